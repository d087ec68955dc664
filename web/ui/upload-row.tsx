/** An upload in a list: what became of it, where it came from, and why something of it was refused. */
import { Link } from '@tanstack/react-router';
import type { UploadList } from '../../src/ingest/receipts.ts';
import { Commit } from './commit.tsx';
import { formatCount } from './format.ts';
import { NameLegs } from './name-legs.tsx';
import { Time } from './time.tsx';
import { Unfolding } from './unfolding.tsx';

export type Upload = UploadList['uploads'][number];

type Outcome = { word: string; colour: string };

/** The outcome comes first. `stored` is said only of an upload of which something was. */
function outcomeOf({ status, accepted, duplicate, rejected, conflicting, warnings }: Upload): Outcome {
  if (status === 'refused') return { word: 'refused', colour: 'text-broken' };
  if (status === 'failed') return { word: 'failed', colour: 'text-broken' };
  if (status === 'queued') return { word: 'queued', colour: 'text-soft' };
  if (rejected > 0 && (accepted ?? 0) + (duplicate ?? 0) === 0) return { word: 'rejected', colour: 'text-broken' };
  if (rejected > 0) return { word: 'in part', colour: 'text-broken' };
  if ((conflicting ?? 0) > 0) return { word: 'conflict', colour: 'text-flaky' };
  return { word: 'stored', colour: warnings.length > 0 ? 'text-flaky' : 'text-healthy' };
}

/** @param isOfMany whether the list has uploads of several repositories */
export function UploadRow({ upload, isOfMany }: { upload: Upload; isOfMany: boolean }) {
  const { owner, repository } = upload;
  const { word, colour } = outcomeOf(upload);
  const origin = [
    isOfMany && `${owner}/${repository}`,
    upload.job_name ?? (upload.pipeline_name === null ? 'job not known' : 'several jobs'),
    upload.pull_request === null ? upload.branch : `#${upload.pull_request}`,
  ].filter((part) => part !== false && part !== null);
  return (
    <li className="border-b border-line last:border-0">
      <Unfolding
        grid="grid grid-cols-[4.5rem_minmax(0,1fr)_6.5rem] items-baseline gap-x-3 sm:grid-cols-[4.5rem_minmax(0,1fr)_minmax(0,1fr)_6.5rem]"
        summary={
          <>
            <span className={`text-xs font-medium ${colour}`}>{word}</span>
            <span className="truncate max-sm:whitespace-normal">
              <span className="font-medium">{origin.join(' · ')}</span>
              <span className="text-soft">
                {upload.format !== null && ` · ${upload.format}`}
                {upload.sender !== null && ` · ${upload.sender}`}
              </span>
            </span>
            <span className="truncate text-soft max-sm:col-span-2 max-sm:col-start-2 max-sm:row-start-2">
              <Summary upload={upload} />
            </span>
            <span className="text-right text-soft">
              <Time at={upload.received_at} />
            </span>
          </>
        }
      >
        {() => <Whole upload={upload} />}
      </Unfolding>
    </li>
  );
}

function Summary({ upload }: { upload: Upload }) {
  const { rejected, conflicting, warnings, failure, refusals } = upload;
  if (failure !== null)
    return (
      <>
        {refusals > 1 && <span className="font-medium text-broken">{formatCount(refusals)} times · </span>}
        {failure}
      </>
    );
  return (
    <>
      {rejected > 0 && <span className="font-medium text-broken">{formatCount(rejected)} rejected · </span>}
      {conflicting !== null && conflicting > 0 && (
        <span className="font-medium text-flaky">{formatCount(conflicting)} in conflict · </span>
      )}
      {countsOf(upload)}
      {warnings.length > 0 && <span className="text-flaky"> · {warnings[0]}</span>}
    </>
  );
}

const Whole = ({ upload }: { upload: Upload }) => (
  <div className="flex flex-col gap-3 px-4 pb-3">
    {upload.failure !== null && <p className="break-words text-broken">{upload.failure}</p>}
    {upload.rejections.map(({ reason, count, examples }) => (
      <div key={reason}>
        <p className="break-words">
          <span className="font-medium text-broken">{formatCount(count)} rejected:</span> {reason}
        </p>
        {examples.length > 0 && (
          <ul className="ml-4 list-disc text-xs text-soft">
            {examples.map((example, i) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: two may be the same when shortened
              <li key={i} className="break-all">
                {example}
              </li>
            ))}
          </ul>
        )}
      </div>
    ))}
    <NameLegs report={upload} />
    {upload.warnings.map((warning) => (
      <p key={warning} className="break-words text-flaky">
        {warning}
      </p>
    ))}
    <Origin upload={upload} />
    <p className="flex flex-wrap gap-x-4 text-xs text-soft">
      <span>
        {upload.status === 'refused' ? 'refused' : 'received'} <Time at={upload.received_at} isWhole />
      </span>
      {upload.stored_at !== null && (
        <span>
          stored <Time at={upload.stored_at} isWhole />
        </span>
      )}
      <code className="font-mono break-all">{upload.id}</code>
      <Link to="/$owner/$repository/tests" params={{ owner: upload.owner, repository: upload.repository }}>
        Open {upload.owner}/{upload.repository}
      </Link>
    </p>
  </div>
);

function Origin({ upload }: { upload: Upload }) {
  const facts = [
    ['Pipeline', upload.pipeline_name],
    ['CI job', upload.job_name],
    ['run', upload.run_id],
    ['attempt', upload.run_attempt],
    ['branch', upload.branch],
    ['pull request', upload.pull_request],
    ['format', upload.format],
    ['sent by', upload.sender],
  ] as const;
  return (
    <p className="flex flex-wrap gap-x-4 text-xs text-soft">
      {facts.map(
        ([name, value]) =>
          value !== null && (
            <span key={name} className="break-all">
              {name} <span className="text-ink">{value}</span>
            </span>
          ),
      )}
      {upload.commit_sha !== null && (
        <span>
          commit <Commit path={{ owner: upload.owner, repository: upload.repository }} commit={upload.commit_sha} />
        </span>
      )}
    </p>
  );
}

function countsOf({ accepted, duplicate, on_default_branch: onDefault }: Upload): string {
  if (accepted === null) return 'being stored';
  const parts = [`${formatCount(accepted)} new`];
  if (duplicate) parts.push(`${formatCount(duplicate)} known already`);
  if (accepted > 0 && onDefault === 0) parts.push('not on the default branch');
  return parts.join(' · ');
}
