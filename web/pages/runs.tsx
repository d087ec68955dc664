/** Pipelines' runs of commits, on every branch, the newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { RunList } from '../../src/insights/runs.ts';
import { type RepositoryPath, runsQuery } from '../api/queries.ts';
import { formatCount } from '../ui/format.ts';
import { PagedList } from '../ui/paged-list.tsx';
import { Pull } from '../ui/pull.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';

const route = getRouteApi('/signed/$owner/$repository/runs');
type Run = RunList['runs'][number];

export function Runs() {
  const path = route.useParams();
  const { branch } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Runs of ${path.owner}/${path.repository}`);
  const found = useInfiniteQuery({
    ...runsQuery(path, { branch }),
    refetchInterval: 15_000,
    placeholderData: (before) => before,
  });
  const onSearch = useCallback(
    (text: string) => void navigate({ search: text === '' ? {} : { branch: text }, replace: true }),
    [navigate],
  );
  const runs = found.data?.pages.flatMap((page) => page.body.runs) ?? [];
  return (
    <>
      <h1 className="sr-only">Runs</h1>
      <div className="mb-3 flex">
        <SearchField label="Branch" placeholder="Every branch" value={branch ?? ''} onSearch={onSearch} />
      </div>
      <div className="card overflow-hidden">
        <PagedList
          found={found}
          rows={runs}
          older="Older runs"
          empty={
            <Empty title={branch === undefined ? 'Nothing has run' : `Nothing ran on ${branch}`}>
              <p>Runs appear when their first report has arrived. Branches are exact names.</p>
            </Empty>
          }
        >
          {(run) => <Row key={run.id} path={path} run={run} />}
        </PagedList>
      </div>
    </>
  );
}

/** A run in which nothing passed or failed has neither. */
function Outcome({ run: { passed, failed } }: { run: Run }) {
  const colour = failed > 0 ? 'text-broken' : passed > 0 ? 'text-healthy' : 'text-soft';
  const word = failed > 0 ? `✕ ${formatCount(failed)} failed` : passed > 0 ? '✓ passed' : 'nothing ran';
  return <span className={`text-xs font-medium ${colour}`}>{word}</span>;
}

function Row({ path, run }: { path: RepositoryPath; run: Run }) {
  const commit = run.commit_sha;
  return (
    <li className="flex flex-wrap items-baseline gap-x-3 border-b border-line px-4 py-2 last:border-0 hover:bg-raised sm:grid sm:grid-cols-[5rem_minmax(0,1fr)_12rem_6.5rem]">
      <Outcome run={run} />
      <span className="min-w-0 max-sm:contents sm:truncate">
        {commit === null ? (
          <span className="font-medium">{run.run_id}</span>
        ) : (
          <Link
            to="/$owner/$repository/commits/$commit"
            params={{ ...path, commit }}
            className="font-mono text-xs font-medium"
            title={commit}
          >
            {commit.slice(0, 10)}
          </Link>
        )}
        <span className="text-soft max-sm:order-1 max-sm:basis-full max-sm:break-words sm:ml-3">
          {run.pull_request !== null && (
            <>
              <Pull path={path} number={run.pull_request} />{' '}
            </>
          )}
          {run.branch}
          {run.is_troubled && ' · troubled'}
        </span>
      </span>
      <span className="truncate text-soft max-sm:hidden">
        <Link to="/$owner/$repository/runs/$run" params={{ ...path, run: run.id }}>
          {run.pipeline_name}
        </Link>{' '}
        · {formatCount(run.jobs_count)} {run.jobs_count === 1 ? 'job' : 'jobs'}
        {run.attempts_count > 1 && `, ${run.attempts_count} attempts`}
      </span>
      <span className="text-right text-soft max-sm:ml-auto">
        <Time at={run.started_at} />
      </span>
    </li>
  );
}
