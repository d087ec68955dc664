/** One run: the attempts of its CI jobs, the reports that arrived for it, and what failed in it. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { RunAnswer } from '../../src/insights/run.ts';
import { type RepositoryPath, runQuery } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount } from '../ui/format.ts';
import { legWords } from '../ui/leg-words.ts';
import { NameLegs } from '../ui/name-legs.tsx';
import { Pull } from '../ui/pull.tsx';
import { Empty, NotYet } from '../ui/states.tsx';
import { Summary } from '../ui/summary.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { Counts } from './ran.tsx';
import { VerdictList } from './verdict-list.tsx';

const route = getRouteApi('/signed/$owner/$repository/runs/$run');

const TROUBLES = {
  none: null,
  partial: 'much of what passed before failed: its failures are held back',
  total: 'nearly all of what passed before failed: its failures are held back',
} as const;

export function Run() {
  const { owner, repository, run: id } = route.useParams();
  const path = { owner, repository };
  const { data: run, error, refetch } = useQuery({ ...runQuery(path, id), refetchInterval: 15_000 });
  useTitle(run ? `Run of ${run.pipeline_name}` : 'Run');
  if (!run) return <NotYet title="Run" error={error} reset={() => void refetch()} />;
  return (
    <div className="flex flex-col gap-5">
      <header>
        <h1 className="text-lg font-semibold break-words">
          {run.pipeline_name}
          {run.run_id !== null && <span className="font-normal text-soft"> run {run.run_id}</span>}
        </h1>
        <p className="mt-1 flex flex-wrap gap-x-3 text-soft">
          {run.commit_sha !== null && (
            <span>
              Commit <Commit path={path} commit={run.commit_sha} />
            </span>
          )}
          {run.pull_request !== null && <Pull path={path} number={run.pull_request} prefix="Pull request " />}
          {run.branch !== null && <span>{run.branch}</span>}
          <Counts run={run} />
          <Time at={run.started_at} />
        </p>
      </header>
      {run.commit_sha !== null && run.run_id !== null && (
        <Summary path={path} commit={run.commit_sha} only={{ pipeline_name: run.pipeline_name, run_id: run.run_id }} />
      )}
      <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_26rem]">
        <div className="flex min-w-0 flex-col gap-5 lg:order-last">
          <Jobs jobs={run.jobs} />
          <Reports reports={run.reports} />
        </div>
        <div className="flex min-w-0 flex-col gap-5">
          <Failures path={path} run={run} />
        </div>
      </div>
    </div>
  );
}

const Jobs = ({ jobs }: { jobs: RunAnswer['jobs'] }) => (
  <section aria-label="CI jobs" className="card">
    <h2 className="border-b border-line px-4 py-2 font-semibold">CI jobs</h2>
    <ul>
      {jobs.map((job) => (
        <li
          key={`${legWords(job.job_name, job.axes)} ${job.run_attempt}`}
          className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2 last:border-0"
        >
          <span className="min-w-0 font-medium break-words">{legWords(job.job_name, job.axes)}</span>
          <span className="text-soft">attempt {job.run_attempt}</span>
          <Counts run={job} />
          {job.skipped > 0 && <span className="text-soft">{formatCount(job.skipped)} skipped</span>}
          <span className="ml-auto text-xs text-soft">
            {job.job_url !== null && <ExternalLink href={job.job_url}>job</ExternalLink>} <Time at={job.started_at} />
          </span>
          {job.usual_tests !== null && (
            <p className="basis-full text-xs text-flaky">
              ran {formatCount(job.passed + job.failed)} of about {formatCount(job.usual_tests)} tests: did it stop
              early?
            </p>
          )}
          {TROUBLES[job.trouble] !== null && <p className="basis-full text-xs text-soft">{TROUBLES[job.trouble]}</p>}
        </li>
      ))}
    </ul>
  </section>
);

const Reports = ({ reports }: { reports: RunAnswer['reports'] }) => (
  <section aria-label="Reports" className="card">
    <h2 className="border-b border-line px-4 py-2 font-semibold">
      Reports that arrived <span className="font-normal text-soft">in the last 30 days</span>
    </h2>
    {reports.length === 0 && <p className="px-4 py-3 text-soft">None. Older ones are not listed.</p>}
    <ul>
      {reports.map((report) => (
        <li
          key={`${report.upload_id} ${report.job_name} ${report.run_attempt}`}
          className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2 last:border-0"
        >
          <span className="min-w-0 font-medium break-words">{report.job_name}</span>
          <span className="text-soft">attempt {report.run_attempt}</span>
          <span>{formatCount(report.accepted)} stored</span>
          {report.duplicate > 0 && <span className="text-soft">{formatCount(report.duplicate)} known already</span>}
          {report.conflicting > 0 && <span className="text-flaky">{formatCount(report.conflicting)} in conflict</span>}
          {report.rejected > 0 && <span className="text-broken">{formatCount(report.rejected)} refused</span>}
          {report.stored_at === null && <span className="text-soft">not stored yet</span>}
          <span className="ml-auto text-xs text-soft">
            <Time at={report.received_at} />
          </span>
          <NameLegs report={report} />
        </li>
      ))}
    </ul>
  </section>
);

/** Runs without a commit or an id cannot be told apart from others in a list of failures. */
function Failures({ path, run }: { path: RepositoryPath; run: RunAnswer }) {
  if (run.commit_sha === null || run.run_id === null) return null;
  return (
    <VerdictList
      path={path}
      commit={run.commit_sha}
      only={{ pipeline_name: run.pipeline_name, run_id: run.run_id }}
      nothing={<Empty title="Nothing of this run is stored any more" />}
    />
  );
}
