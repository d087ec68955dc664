/** A commit: what ran, what failed, and of each failure whether the commit is the cause. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { RunList } from '../../src/insights/runs.ts';
import { commitQuery, type RepositoryPath, runsQuery } from '../api/queries.ts';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount } from '../ui/format.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';

const route = getRouteApi('/signed/$owner/$repository/commits/$commit');
type Failure = CommitFailures['failures'][number];
type Run = RunList['runs'][number];
type Verdict = Failure['verdict'];

/** What each verdict means for who made the commit; what needs attention comes first, as in the API. */
const VERDICTS: Record<Verdict, { title: string; meaning: string; colour: string }> = {
  new: {
    title: 'New',
    meaning: 'The default branch has not failed like this: look at these first.',
    colour: 'bg-broken-soft text-broken',
  },
  broken: {
    title: 'Broken on the default branch',
    meaning: 'They fail in the same way without this commit.',
    colour: 'bg-raised text-ink',
  },
  known_flaky: {
    title: 'Known flaky',
    meaning: 'They fail like this from time to time without a change. Run the job again.',
    colour: 'bg-flaky-soft text-flaky',
  },
  infrastructure: {
    title: 'Infrastructure',
    meaning: 'Nearly everything failed in these runs, so they say nothing about the tests.',
    colour: 'bg-raised text-ink',
  },
  quarantined: {
    title: 'Quarantined',
    meaning: 'Their failures do not count at the moment.',
    colour: 'bg-raised text-soft',
  },
};

export function Commit() {
  const { owner, repository, commit } = route.useParams();
  const path = { owner, repository };
  useTitle(`Commit ${commit.slice(0, 10)}`);
  const found = useInfiniteQuery({ ...commitQuery(path, commit), refetchInterval: 15_000 });
  const runs = useInfiniteQuery(runsQuery(path, { commit_sha: commit }));
  const ran = runs.data?.pages[0]?.body.runs ?? [];
  const first = found.data?.pages[0]?.body;
  const failures = found.data?.pages.flatMap(({ body }) => body.failures) ?? [];
  const about = ran.find(({ pull_request: pull }) => pull !== null) ?? ran[0];
  return (
    <div className="flex flex-col gap-5">
      <header>
        <h1 className="text-lg font-semibold">
          Commit <span className="font-mono text-base break-all">{commit}</span>
        </h1>
        {about && (
          <p className="mt-1 text-soft">
            {about.pull_request !== null && `Pull request #${about.pull_request}, `}
            {about.branch}, <Time at={about.started_at} />
          </p>
        )}
      </header>
      {found.isPending && <Loading />}
      {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
      {first?.runs === 0 && (
        <div className="card">
          <Empty title="Nothing has arrived for this commit">
            <p>Check that CI sends its reports, and that this is the whole id of the commit. This page watches.</p>
          </Empty>
        </div>
      )}
      {first && first.runs > 0 && (
        <>
          <Ran runs={ran} />
          {failures.length === 0 && (
            <div className="card">
              <Empty title="Nothing failed">
                <p>{formatCount(first.runs)} attempts of CI jobs have arrived.</p>
              </Empty>
            </div>
          )}
          {Object.entries(VERDICTS).map(([verdict, look]) => {
            const shown = failures.filter((failure) => failure.verdict === verdict);
            return (
              shown.length > 0 && (
                <section key={verdict} aria-label={look.title} className="card">
                  <div className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2">
                    <h2 className={`rounded-full px-2.5 py-0.5 text-sm font-semibold ${look.colour}`}>
                      {formatCount(first.verdicts[verdict] ?? shown.length)} {look.title}
                    </h2>
                    <p className="text-soft">{look.meaning}</p>
                  </div>
                  <ul>
                    {shown.map((failure) => (
                      <Row
                        key={`${failure.test_id} ${failure.pipeline_name} ${failure.job_name}`}
                        path={path}
                        failure={failure}
                      />
                    ))}
                  </ul>
                </section>
              )
            );
          })}
          {found.hasNextPage && (
            <button type="button" className="button self-center" onClick={() => void found.fetchNextPage()}>
              More failures
            </button>
          )}
        </>
      )}
    </div>
  );
}

const Ran = ({ runs }: { runs: readonly Run[] }) => (
  <ul className="flex flex-wrap gap-3">
    {runs.map((run) => (
      <li key={run.id} className="card flex items-baseline gap-3 px-4 py-2">
        <span className="font-medium">{run.pipeline_name}</span>
        <span className={run.failed > 0 ? 'text-broken' : 'text-healthy'}>
          {formatCount(run.passed)} passed, {formatCount(run.failed)} failed
        </span>
        <span className="text-soft">
          {formatCount(run.jobs_count)} {run.jobs_count === 1 ? 'job' : 'jobs'}
          {run.attempts_count > 1 && `, ${run.attempts_count} attempts`}
        </span>
      </li>
    ))}
  </ul>
);

function Row({ path, failure }: { path: RepositoryPath; failure: Failure }) {
  const { evidence } = failure;
  return (
    <li className="border-b border-line px-4 py-2.5 last:border-0">
      <div className="flex flex-wrap items-baseline gap-x-3">
        <Link
          to="/$owner/$repository/tests/$testId"
          params={{ ...path, testId: failure.test_id }}
          search={failure.failure_id === null ? {} : { failure: failure.failure_id }}
          className="min-w-0 font-medium break-words text-ink"
        >
          {failure.test_name}
        </Link>
        <span className="ml-auto shrink-0 text-xs text-soft">
          {failure.pipeline_name} · {failure.job_name}{' '}
          {failure.job_url !== null && <ExternalLink href={failure.job_url}>job</ExternalLink>}
        </span>
      </div>
      <p className="line-clamp-2 text-soft">
        {failure.exception_type}: {failure.exception_message}
      </p>
      <p className="text-xs text-soft">
        Failed {formatCount(evidence.commit_failures)}× and passed {formatCount(evidence.commit_passes)}× here;{' '}
        {evidence.default_branch_failures === 0
          ? 'never like this on the default branch.'
          : `like this ${formatCount(evidence.default_branch_failures)}× on the default branch.`}
      </p>
    </li>
  );
}
