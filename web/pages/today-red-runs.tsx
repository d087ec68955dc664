/** What broke the default branch in the last 24 hours, and who is on it. */
import { Link } from '@tanstack/react-router';
import type { RedRuns } from '../../src/insights/red-runs.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount, formatCounted } from '../ui/format.ts';
import { Pull } from '../ui/pull.tsx';
import { Section } from '../ui/section.tsx';
import { Time } from '../ui/time.tsx';

type Run = RedRuns['red_runs'][number];

const VERDICTS: Record<Run['tests'][number]['verdict'], string> = {
  new: 'new',
  broken: 'broken before',
  known_flaky: 'flaky',
  infrastructure: 'infrastructure',
  quarantined: 'quarantined',
};

export function RedRunList({ path, found }: { path: RepositoryPath; found: RedRuns }) {
  const { runs_count: runs, red_runs_count: red, red_runs: shown } = found;
  return (
    <Section title="What broke the default branch" aside="in the last 24 hours">
      <p className="px-4 py-2">
        {runs === 0
          ? 'Nothing has run on it.'
          : red === 0
            ? `Nothing: ${runs === 1 ? 'its run is' : `all of its ${formatCount(runs)} runs are`} green.`
            : `${formatCount(red)} of ${formatCounted(runs, 'run')} ${red === 1 ? 'is' : 'are'} red.`}
      </p>
      <ul>
        {shown.map((run) => (
          <Row key={run.id} path={path} run={run} />
        ))}
      </ul>
      {!found.is_complete && (
        <p className="border-t border-line px-4 py-2 text-xs text-soft">
          These are the newest {formatCount(shown.length)}.
        </p>
      )}
    </Section>
  );
}

function Row({ path, run }: { path: RepositoryPath; run: Run }) {
  const more = run.failed_tests - run.tests.length;
  return (
    <li className="border-t border-line px-4 py-2">
      <p className="flex flex-wrap items-baseline gap-x-3 gap-y-2">
        <Link
          to="/$owner/$repository/runs/$run"
          params={{ ...path, run: run.id }}
          className="min-h-6 min-w-6 font-medium"
        >
          {run.pipeline_name}
        </Link>
        {run.commit_sha !== null && <Commit path={path} commit={run.commit_sha} />}
        {run.pull_request && (
          <span>
            <Pull path={path} number={run.pull_request.number} /> by {run.pull_request.user.login}
          </span>
        )}
        <span className="ml-auto text-xs text-soft">
          <Time at={run.started_at} />
        </span>
      </p>
      <ul className="mt-1">
        {run.tests.map((test) => (
          <li key={test.test_id} className="flex flex-wrap items-baseline gap-x-2 py-1 text-soft">
            <span className={`w-24 shrink-0 text-xs ${test.verdict === 'new' ? 'font-medium text-broken' : ''}`}>
              {VERDICTS[test.verdict]}
            </span>
            <Link
              to="/$owner/$repository/tests/$testId"
              params={{ ...path, testId: test.test_id }}
              className="min-h-6 min-w-0 flex-1 basis-48 break-words text-ink"
            >
              {test.test_name}
            </Link>
            <span className="ml-auto text-right text-xs">
              <Who test={test} />
            </span>
          </li>
        ))}
      </ul>
      {more > 0 && <p className="text-xs text-soft">and {formatCounted(more, 'other test')}</p>}
    </li>
  );
}

/** Who repairs it, by its quarantine; else whose test it is. */
function Who({ test: { owner, owners, ticket_url: ticket } }: { test: Run['tests'][number] }) {
  if (owner === null && ticket === null) return owners.length === 0 ? 'without an owner' : `owned by ${owners[0]}`;
  return (
    <>
      {owner !== null && `repaired by ${owner}`} {ticket !== null && <ExternalLink href={ticket}>ticket</ExternalLink>}
    </>
  );
}
