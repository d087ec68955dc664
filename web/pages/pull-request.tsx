/** A pull request: the state of its newest commit, the commits before it, and what happened to it. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import type { PullRequestAnswer } from '../../src/insights/pull-request.ts';
import { Problem } from '../api/client.ts';
import { commitQuery, pullQuery, type RepositoryPath, runsQuery } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { formatCount } from '../ui/format.ts';
import { HostPull } from '../ui/host.tsx';
import { Empty, Loading, NotYet } from '../ui/states.tsx';
import { Summary } from '../ui/summary.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { PullEvents } from './pull-events.tsx';
import { Counts, Ran } from './ran.tsx';
import { VerdictList } from './verdict-list.tsx';

const route = getRouteApi('/signed/$owner/$repository/pulls/$number');

export function PullRequest() {
  const { owner, repository, number } = route.useParams();
  const path = { owner, repository };
  useTitle(`Pull request #${number}`);
  const { data, error, refetch } = useQuery({ ...pullQuery(path, number), refetchInterval: 15_000 });
  if (!data)
    return error instanceof Problem && error.status === 404 ? (
      <div className="card">
        <h1 className="sr-only">Pull request #{number}</h1>
        <Empty title={`Nothing has arrived of pull request #${number}`}>
          <p>Check the number, and that CI sends its reports. This page watches.</p>
        </Empty>
      </div>
    ) : (
      <NotYet title={`Pull request #${number}`} error={error} reset={() => void refetch()} />
    );
  const [newest] = data.commits;
  return (
    <div className="flex flex-col gap-5">
      <Heading path={path} pull={data} />
      {newest ? (
        <State path={path} pull={data} commit={newest.commit_sha} />
      ) : (
        <>
          <div className="card">
            <Empty title="Nothing has run for this pull request">
              <p>Its commits appear with their first report. This page watches.</p>
            </Empty>
          </div>
          <PullEvents path={path} number={data.number} />
        </>
      )}
    </div>
  );
}

const Heading = ({ path, pull }: { path: RepositoryPath; pull: PullRequestAnswer }) => (
  <header>
    <h1 className="text-lg font-semibold break-words">
      <span className="font-normal text-soft">
        {pull.title === null && 'Pull request '}#{pull.number}
        <HostPull path={path} number={pull.number} />
      </span>{' '}
      {pull.title}
    </h1>
    <p className="mt-1 flex flex-wrap gap-x-3 text-soft">
      {pull.user !== null && <span>by {pull.user.login}</span>}
      {pull.head_ref !== null && (
        <span className="break-all">
          {pull.head_ref}
          {pull.base_ref !== null && ` into ${pull.base_ref}`}
        </span>
      )}
      {pull.merge_commit !== null && (
        <span>
          merged as <Commit path={path} commit={pull.merge_commit} />
        </span>
      )}
    </p>
  </header>
);

interface StateProps {
  path: RepositoryPath;
  pull: PullRequestAnswer;
  /** The newest on which something ran. */
  commit: string;
}

/** Shown at once when all of it is known, so that nothing jumps. */
function State({ path, pull, commit }: StateProps) {
  const runs = useInfiniteQuery({ ...runsQuery(path, { commit_sha: commit }), refetchInterval: 15_000 });
  const failures = useInfiniteQuery(commitQuery(path, commit));
  if (runs.isPending || failures.isPending) return <Loading rows={8} />;
  const { head_commit: head } = pull;
  return (
    <div className="grid items-start gap-5 lg:grid-cols-[minmax(0,1fr)_24rem]">
      <section aria-label="Newest commit" className="flex min-w-0 flex-col gap-4">
        {head !== null && head !== commit && (
          <p role="status" className="card border-flaky px-4 py-2.5">
            Nothing has arrived yet for the newest commit, <Commit path={path} commit={head} />. This is the state of
            the last one that ran.
          </p>
        )}
        <h2 className="font-semibold">
          State at <Commit path={path} commit={commit} />
        </h2>
        <Summary path={path} commit={commit} />
        <Ran path={path} runs={runs.data?.pages[0]?.body.runs ?? []} />
        <VerdictList
          path={path}
          commit={commit}
          nothing={<Empty title="Nothing of this commit is stored any more" />}
        />
      </section>
      <div className="flex min-w-0 flex-col gap-5">
        <Commits path={path} pull={pull} />
        <PullEvents path={path} number={pull.number} />
      </div>
    </div>
  );
}

const Commits = ({ path, pull }: { path: RepositoryPath; pull: PullRequestAnswer }) => (
  <section aria-label="Commits" className="card min-w-0">
    <h2 className="border-b border-line px-4 py-2 font-semibold">
      Commits <span className="font-normal text-soft">on which something ran: {formatCount(pull.commits_count)}</span>
    </h2>
    <ol>
      {pull.commits.map((commit) => (
        <li
          key={commit.commit_sha}
          className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2 last:border-0"
        >
          <Commit path={path} commit={commit.commit_sha} />
          <Counts run={commit} />
          <span className="ml-auto text-xs text-soft">
            {formatCount(commit.runs)} {commit.runs === 1 ? 'run' : 'runs'}, <Time at={commit.started_at} />
          </span>
        </li>
      ))}
    </ol>
    {pull.commits_count > pull.commits.length && (
      <p className="border-t border-line px-4 py-2 text-soft">
        These are the newest {formatCount(pull.commits.length)}.
      </p>
    )}
  </section>
);
