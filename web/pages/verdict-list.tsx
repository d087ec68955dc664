/** What failed on a commit, by what it means for who made the commit. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { Query } from '../api/client.ts';
import { commitQuery, type RepositoryPath } from '../api/queries.ts';
import { ExternalLink } from '../ui/external.tsx';
import { formatCount } from '../ui/format.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';

type Failure = CommitFailures['failures'][number];
type Verdict = Failure['verdict'];

/** What each verdict means; what needs attention comes first, as in the API. */
const VERDICTS: Record<Verdict, { title: string; meaning: string; colour: string }> = {
  new: {
    title: 'New',
    meaning: 'The default branch does not fail like this now: look at these first.',
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

interface VerdictListProps {
  path: RepositoryPath;
  commit: string;
  /** Only failures of some runs, as in `…/commits/{commit_sha}/failures`. */
  only?: Query;
  /** What is shown while nothing of the commit has arrived. */
  nothing: ReactNode;
}

export function VerdictList({ path, commit, only = {}, nothing }: VerdictListProps) {
  const found = useInfiniteQuery({ ...commitQuery(path, commit, only), refetchInterval: 15_000 });
  if (found.isPending) return <Loading />;
  // What was read before stays while a store is away.
  if (!found.data) return <Failed error={found.error} reset={() => void found.refetch()} />;
  const first = found.data.pages[0]?.body;
  if (!first || first.runs === 0) return nothing;
  const failures = found.data.pages.flatMap(({ body }) => body.failures);
  return (
    <>
      {failures.length === 0 && (
        <div className="card">
          <Empty title="Nothing failed">
            <p>
              {first.runs === 1
                ? 'One attempt of a CI job has arrived.'
                : `${formatCount(first.runs)} attempts of CI jobs have arrived.`}
            </p>
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
        <button
          type="button"
          className="button self-center"
          disabled={found.isFetchingNextPage}
          onClick={() => void found.fetchNextPage()}
        >
          {found.isFetchingNextPage ? 'Loading …' : 'More failures'}
        </button>
      )}
    </>
  );
}

function Row({ path, failure }: { path: RepositoryPath; failure: Failure }) {
  const { evidence } = failure;
  const now = evidence.health_status === 'healthy' ? ', where the test is healthy now' : '';
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
          : `like this ${formatCount(evidence.default_branch_failures)}× on the default branch${now}.`}
      </p>
    </li>
  );
}
