/** Pipelines' runs of commits, on every branch, the newest first. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { RunList } from '../../src/insights/runs.ts';
import { type RepositoryPath, runsQuery } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { formatCount } from '../ui/format.ts';
import { Paged } from '../ui/paged-list.tsx';
import { Pull } from '../ui/pull.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
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
    (text: string) => void navigate({ search: (before) => ({ ...before, branch: text || undefined }), replace: true }),
    [navigate],
  );
  const { owner, repository } = path;
  const columns = useMemo(() => columnsOf({ owner, repository }), [owner, repository]);
  const runs = useMemo(() => found.data?.pages.flatMap((page) => page.body.runs) ?? [], [found.data]);
  return (
    <>
      <h1 className="sr-only">Runs</h1>
      <div className="mb-3 flex">
        <SearchField label="Branch" placeholder="Every branch" value={branch ?? ''} onSearch={onSearch} />
      </div>
      <div className="card overflow-hidden">
        <Paged
          found={found}
          count={runs.length}
          older="Older runs"
          empty={
            <Empty title={branch === undefined ? 'Nothing has run' : `Nothing ran on ${branch}`}>
              <p>Runs appear when their first report has arrived. Branches are exact names.</p>
            </Empty>
          }
        >
          <Table
            label="Runs"
            noun="run"
            columns={columns}
            rows={runs}
            keyOf={({ id }) => id}
            first={FIRST}
            isMore={found.hasNextPage}
          />
        </Paged>
      </div>
    </>
  );
}

const FIRST = { id: 'started_at', direction: 'desc' } as const;

const columnsOf = (path: RepositoryPath): readonly Column<Run>[] => [
  {
    id: 'outcome',
    head: 'Outcome',
    isText: true,
    width: 'w-24',
    value: ({ passed, failed }) => (failed > 0 ? 'failed' : passed > 0 ? 'passed' : 'nothing ran'),
    cell: (run) => <Outcome run={run} />,
  },
  {
    id: 'commit',
    head: 'Commit',
    isText: true,
    width: 'sm:w-28',
    value: ({ commit_sha: commit, run_id: id }) => commit ?? id,
    cell: (run) => (
      <>
        {run.commit_sha === null ? (
          <span className="font-medium">{run.run_id}</span>
        ) : (
          <Commit path={path} commit={run.commit_sha} />
        )}
        <span className="mt-2 block break-words text-soft sm:hidden">
          <Branch path={path} run={run} />
        </span>
      </>
    ),
  },
  {
    id: 'branch',
    head: 'Branch',
    isText: true,
    width: 'max-sm:hidden',
    value: ({ branch }) => branch,
    cell: (run) => (
      <span className="break-words text-soft">
        <Branch path={path} run={run} />
      </span>
    ),
  },
  {
    id: 'pipeline',
    head: 'Pipeline',
    isText: true,
    width: 'max-sm:hidden',
    value: ({ pipeline_name: pipeline }) => pipeline,
    cell: (run) => (
      <span className="text-soft">
        <Link to="/$owner/$repository/runs/$run" params={{ ...path, run: run.id }}>
          {run.pipeline_name}
        </Link>
        {run.attempts_count > 1 && `, ${formatCount(run.attempts_count)} attempts`}
      </span>
    ),
  },
  {
    id: 'jobs',
    head: 'Jobs',
    width: 'w-16 max-md:hidden',
    value: ({ jobs_count: jobs }) => jobs,
    cell: ({ jobs_count: jobs }) => formatCount(jobs),
  },
  {
    id: 'passed',
    head: 'Passed',
    width: 'w-20 max-md:hidden',
    value: ({ passed }) => passed,
    cell: ({ passed }) => formatCount(passed),
  },
  {
    id: 'failed',
    head: 'Failed',
    width: 'w-20 max-md:hidden',
    value: ({ failed }) => failed,
    cell: ({ failed }) => (
      <span className={failed === 0 ? 'text-soft' : 'font-medium text-broken'}>{formatCount(failed)}</span>
    ),
  },
  {
    id: 'started_at',
    head: 'Started',
    hint: 'The newest first',
    width: 'w-32',
    value: ({ started_at: at }) => at,
    cell: ({ started_at: at }) => (
      <span className="text-soft">
        <Time at={at} />
      </span>
    ),
  },
];

/** A run in which nothing passed or failed has neither. */
function Outcome({ run: { passed, failed } }: { run: Run }) {
  const colour = failed > 0 ? 'text-broken' : passed > 0 ? 'text-healthy' : 'text-soft';
  const word = failed > 0 ? `✕ failed` : passed > 0 ? '✓ passed' : 'nothing ran';
  return <span className={`text-xs font-medium ${colour}`}>{word}</span>;
}

const Branch = ({ path, run }: { path: RepositoryPath; run: Run }) => (
  <>
    {run.pull_request !== null && (
      <>
        <Pull path={path} number={run.pull_request} />{' '}
      </>
    )}
    {run.branch}
    {run.is_troubled && ' · troubled'}
  </>
);
