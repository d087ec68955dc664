/** Runs of a commit, and which of their reports arrived: one card for each run. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { RunList } from '../../src/insights/runs.ts';
import { type RepositoryPath, runQuery } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { Time } from '../ui/time.tsx';

type Run = RunList['runs'][number];

/** Runs whose reports are shown: each takes a request. */
const REPORTS_OF_RUNS_MAX = 12;

export const Ran = ({ path, runs }: { path: RepositoryPath; runs: readonly Run[] }) => (
  <ul aria-label="What ran" className="grid grid-cols-[repeat(auto-fill,minmax(min(100%,17rem),1fr))] gap-3">
    {runs.map((run, i) => (
      <li key={run.id} className="card flex flex-col gap-0.5 px-4 py-2.5">
        <span className="flex flex-wrap items-baseline gap-x-3">
          <Link
            to="/$owner/$repository/runs/$run"
            params={{ ...path, run: run.id }}
            className="min-w-0 font-medium break-words"
          >
            {run.pipeline_name}
          </Link>
          <Counts run={run} />
        </span>
        <span className="text-xs text-soft">
          {formatCount(run.jobs_count)} {run.jobs_count === 1 ? 'CI job' : 'CI jobs'}
          {run.attempts_count > 1 && `, ${run.attempts_count} attempts`}
        </span>
        {i < REPORTS_OF_RUNS_MAX && <Arrived path={path} run={run} />}
      </li>
    ))}
  </ul>
);

/** How its tests ended, in a word and a colour. */
export const Counts = ({ run }: { run: Pick<Run, 'passed' | 'failed'> }) => (
  <span className={run.failed > 0 ? 'text-soft' : 'text-healthy'}>
    {run.failed > 0 ? '✕' : '✓'} {formatCount(run.passed)} passed,{' '}
    <span className={run.failed > 0 ? 'font-medium text-broken' : ''}>{formatCount(run.failed)} failed</span>
  </span>
);

/** Its line is there before it is known, so that nothing jumps. */
function Arrived({ path, run }: { path: RepositoryPath; run: Run }) {
  const { data } = useQuery({ ...runQuery(path, run.id), refetchInterval: 15_000 });
  const reports = data?.reports ?? [];
  const last = reports.at(-1);
  const conflicting = reports.reduce((sum, report) => sum + report.conflicting, 0);
  const early = data?.jobs.find(({ usual_tests: usual }) => usual !== null);
  const refused = reports.reduce((sum, { rejected }) => sum + rejected, 0);
  return (
    <span className="min-h-4 text-xs text-soft">
      {last && (
        <>
          {formatCount(reports.length)} {reports.length === 1 ? 'report' : 'reports'}, the last{' '}
          <Time at={last.received_at} />
        </>
      )}
      {conflicting > 0 && <span className="text-flaky"> · {formatCount(conflicting)} in conflict</span>}
      {early && early.usual_tests !== null && (
        <span className="text-flaky">
          {' '}
          · {early.job_name} ran {formatCount(early.passed + early.failed)} of about {formatCount(early.usual_tests)}{' '}
          tests
        </span>
      )}
      {refused > 0 && <span className="text-broken"> · {formatCount(refused)} tests refused</span>}
    </span>
  );
}
