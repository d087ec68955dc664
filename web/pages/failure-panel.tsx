/** A failed execution with its stack, alone or beside another one: lines that only one of the two has are marked. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TestExecution, TestHistory } from '../../src/insights/history.ts';
import { executionQuery, type TestPath } from '../api/queries.ts';
import { Attachments } from '../ui/attachments.tsx';
import { Commit } from '../ui/commit.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { Compare, File } from '../ui/host.tsx';
import { legWords } from '../ui/leg-words.ts';
import { Pull } from '../ui/pull.tsx';
import { Reproduce } from '../ui/reproduce.tsx';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { type ComparedLine, compareLines } from './compare-lines.ts';

interface FailurePanelProps {
  path: TestPath;
  /** Ids of executions. */
  at: string;
  beside: string | undefined;
  /** The command that runs the test alone; null: not known. */
  reproduce: string | null;
  /** Failures of the list, newest first. */
  failures: TestHistory['executions'];
  onShow: (at: string | undefined, beside: string | undefined) => void;
}

export function FailurePanel({ path, at, beside, reproduce, failures, onShow }: FailurePanelProps) {
  const first = useQuery(executionQuery(path, at));
  const second = useQuery({ ...executionQuery(path, beside ?? at), enabled: beside !== undefined });
  const error = first.error ?? (beside === undefined ? null : second.error);
  const one = first.data;
  const other = beside === undefined ? undefined : second.data;
  const place = failures.findIndex(({ execution_id: id }) => id === at);
  const newer = place > 0 ? failures[place - 1] : undefined;
  const older = place >= 0 ? failures[place + 1] : undefined;
  const stacks = one && other && compareLines(textOf(one), textOf(other));
  return (
    <Section title={beside === undefined ? 'Failure' : 'Two failures'}>
      <div className="flex flex-wrap gap-2 border-b border-line px-4 py-2">
        <Step label="Newer failure" to={newer?.execution_id} onShow={(id) => onShow(id, undefined)} />
        <Step label="Older failure" to={older?.execution_id} onShow={(id) => onShow(id, undefined)} />
        {beside === undefined ? (
          <Step label="Compare with the older one" to={older?.execution_id} onShow={(id) => onShow(at, id)} />
        ) : (
          <Step label="Show one only" to={at} onShow={(id) => onShow(id, undefined)} />
        )}
        <Step label="Close" to={at} onShow={() => onShow(undefined, undefined)} />
      </div>
      {reproduce !== null && (
        <div className="border-b border-line px-4 py-2">
          <Reproduce command={reproduce} />
        </div>
      )}
      {error ? (
        <Failed error={error} reset={() => void (first.error ? first.refetch() : second.refetch())} />
      ) : one === undefined || (beside !== undefined && other === undefined) ? (
        <Loading rows={8} />
      ) : (
        <>
          {stacks && (
            <p className="flex flex-wrap gap-x-3 border-b border-line px-4 py-2 text-soft">
              {stacks.differing === 0
                ? 'Messages and stacks are the same.'
                : `${stacks.differing} ${stacks.differing === 1 ? 'line differs' : 'lines differ'}.`}
              {other && <Compare path={path} from={other.commit_sha} to={one.commit_sha} />}
            </p>
          )}
          <div className={`grid gap-px bg-line ${other ? 'lg:grid-cols-2' : ''}`}>
            <OneFailure path={path} execution={one} lines={stacks?.one} />
            {other && <OneFailure path={path} execution={other} lines={stacks?.other} />}
          </div>
        </>
      )}
    </Section>
  );
}

interface StepProps {
  label: string;
  to: string | undefined;
  onShow: (id: string) => void;
}

const Step = ({ label, to, onShow }: StepProps) => (
  <button type="button" className="button" disabled={to === undefined} onClick={() => to !== undefined && onShow(to)}>
    {label}
  </button>
);

/** The message and the stack of its last failed attempt. */
function textOf({ failures }: TestExecution): string {
  const last = failures.at(-1);
  return [last?.exception_message, last?.exception_stacktrace].filter(Boolean).join('\n\n');
}

interface OneFailureProps {
  path: TestPath;
  execution: TestExecution;
  /** Undefined: it is not compared. */
  lines: readonly ComparedLine[] | undefined;
}

function OneFailure({ path, execution, lines }: OneFailureProps) {
  const { failures, commit_sha: commit, pull_request: pull, test_filepath: file } = execution;
  const last = failures.at(-1);
  return (
    <div className="flex min-w-0 flex-col gap-2 bg-card p-4">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-2 text-soft">
        <Time at={execution.finished_at} isWhole />
        {commit !== null && <Commit path={path} commit={commit} />}
        {pull !== null && <Pull path={path} number={pull} />}
        {execution.author !== null && <span>by {execution.author}</span>}
        <span className="break-all">{execution.branch}</span>
        <span>{legWords(execution.job_name, execution.axes)}</span>
        {execution.run !== null && (
          <Link
            to="/$owner/$repository/runs/$run"
            params={{ owner: path.owner, repository: path.repository, run: execution.run }}
            className="-my-0.5 inline-block min-w-6 py-0.5"
          >
            run
          </Link>
        )}
        {execution.job_url !== null && <ExternalLink href={execution.job_url}>job</ExternalLink>}
      </p>
      {last === undefined ? (
        <p className="text-soft">None of its attempts failed, or what they failed with is not retained any more.</p>
      ) : (
        <>
          <p className="flex flex-wrap gap-x-3 text-soft">
            <span className="font-medium text-ink">{last.exception_type}</span>
            {file !== null && (
              <span className="break-all">
                <File path={path} commit={commit} file={file} line={last.line} />
              </span>
            )}
            <Attachments attachments={last.attachments} />
          </p>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls */}
          <pre tabIndex={0} className="max-h-96 overflow-auto rounded-md bg-raised p-3 font-mono text-xs leading-5">
            {lines ? lines.map((line) => <Line key={line.place} line={line} />) : textOf(execution)}
          </pre>
          {failures.length > 1 && <p className="text-xs text-soft">Its last of {failures.length} failed attempts.</p>}
        </>
      )}
    </div>
  );
}

/** A line that the other one lacks is marked by a sign, a colour and a word for screen readers. */
const Line = ({ line: { text, differs } }: { line: ComparedLine }) =>
  differs ? (
    <ins className="block bg-flaky-soft text-ink no-underline">
      <span aria-hidden="true">≠ </span>
      <span className="sr-only">differs: </span>
      {text || ' '}
    </ins>
  ) : (
    <span className="block">
      {'  '}
      {text || ' '}
    </span>
  );
