/** A commit: what ran, what arrived, what failed, and of each failure whether the commit is the cause. */
import { useInfiniteQuery, usePrefetchInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { commitQuery, runsQuery } from '../api/queries.ts';
import { HostCommit } from '../ui/host.tsx';
import { Pull } from '../ui/pull.tsx';
import { Empty, Loading } from '../ui/states.tsx';
import { Summary } from '../ui/summary.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { Ran } from './ran.tsx';
import { VerdictList } from './verdict-list.tsx';

const route = getRouteApi('/signed/$owner/$repository/commits/$commit');

export function Commit() {
  const { owner, repository, commit } = route.useParams();
  const path = { owner, repository };
  useTitle(`Commit ${commit.slice(0, 10)}`);
  const runs = useInfiniteQuery({ ...runsQuery(path, { commit_sha: commit }), refetchInterval: 15_000 });
  usePrefetchInfiniteQuery(commitQuery(path, commit));
  const ran = runs.data?.pages[0]?.body.runs ?? [];
  const about = ran.find(({ pull_request: pull }) => pull !== null) ?? ran[0];
  return (
    <div className="flex flex-col gap-5">
      <header>
        <h1 className="text-lg font-semibold">
          Commit <span className="font-mono text-base break-all">{commit}</span>
          <HostCommit path={path} commit={commit} />
        </h1>
        {about && (
          <p className="mt-1 text-soft">
            {about.pull_request !== null && (
              <>
                <Pull path={path} number={about.pull_request} prefix="Pull request " />,{' '}
              </>
            )}
            {about.branch}, <Time at={about.started_at} />
          </p>
        )}
      </header>
      {!runs.isPending && ran.length > 0 && <Summary path={path} commit={commit} />}
      {runs.isPending && <Loading />}
      {ran.length > 0 && <Ran path={path} runs={ran} />}
      {!runs.isPending && (
        <VerdictList
          path={path}
          commit={commit}
          nothing={
            <div className="card">
              <Empty title="Nothing has arrived for this commit">
                <p>Check that CI sends its reports, and that this is the whole id of the commit. This page watches.</p>
              </Empty>
            </div>
          }
        />
      )}
    </div>
  );
}
