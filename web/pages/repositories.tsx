/** The home of the service: what changed this week, and all repositories, those with the most trouble first. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { RepositoryList } from '../../src/insights/repositories.ts';
import { firstRepositoriesQuery, repositoriesQuery, repositoryChangesQuery } from '../api/queries.ts';
import { DaySparkline } from '../ui/day-sparkline.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { FirstRepository } from './first-repository.tsx';
import { RepositoriesWeek } from './repositories-week.tsx';

const route = getRouteApi('/signed/');
type Repository = RepositoryList['repositories'][number];

/** With fewer, there is nothing to find. */
const SEARCHED_MIN = 8;
const NONE: readonly Repository[] = [];

export function Repositories() {
  const { q = '' } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle('Repositories');
  const first = useQuery({ ...firstRepositoriesQuery, refetchInterval: 15_000 });
  const changes = useQuery({ ...repositoryChangesQuery, refetchInterval: 60_000 });
  const total = first.data?.total ?? 0;
  const isLong = total > (first.data?.repositories.length ?? 0);
  // Megabytes, for what one scrolls to or searches for.
  const whole = useQuery({ ...repositoriesQuery, enabled: isLong, refetchInterval: 60_000 });
  const isWaiting = isLong && whole.isPending;
  const error = first.error ?? whole.error ?? changes.error;
  const onSearch = useCallback(
    (text: string) => void navigate({ search: text === '' ? {} : { q: text }, replace: true }),
    [navigate],
  );
  const all = (isLong && whole.data ? whole : first).data?.repositories ?? NONE;
  const found = useMemo(() => all.filter((one) => pathOf(one).toLowerCase().includes(q.toLowerCase())), [all, q]);
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-lg font-semibold">Repositories</h1>
        {(all.length > SEARCHED_MIN || q !== '') && (
          <SearchField label="Find a repository" placeholder="Find a repository" value={q} onSearch={onSearch} />
        )}
      </div>
      {first.isPending || changes.isPending ? (
        <div className="card">
          <Loading />
        </div>
      ) : (
        <>
          {q === '' && first.data && changes.data && changes.data.total > 0 && (
            <div className="mb-5">
              <RepositoriesWeek found={changes.data} />
            </div>
          )}
          <div className="card overflow-hidden">
            {found.length === 0 && isWaiting && <Loading />}
            {error && (
              <Failed
                error={error}
                reset={() =>
                  void Promise.all([first, whole, changes].filter((one) => one.error).map((one) => one.refetch()))
                }
              />
            )}
            {found.length > 0 && <Rows repositories={found} isWhole={!isWaiting} />}
            {first.data && all.length === 0 && <FirstRepository />}
            {all.length > 0 && found.length === 0 && !isWaiting && (
              <Empty title={`No repository has “${q}” in its name`} />
            )}
          </div>
        </>
      )}
    </>
  );
}

const pathOf = ({ owner, repository }: Repository): string => `${owner}/${repository}`;
const healthyOf = (one: Repository): number => one.tests - one.flaky_tests - one.broken_tests;

const Rows = ({ repositories, isWhole }: { repositories: readonly Repository[]; isWhole: boolean }) => (
  <Table
    label="Repositories"
    noun="repository"
    nouns="repositories"
    columns={COLUMNS}
    rows={repositories}
    keyOf={pathOf}
    isWhole={isWhole}
    onSeen={() => {}}
  />
);

const NARROW = 'w-16 lg:w-20';
const WIDE = 'w-20 max-lg:hidden';
const COLUMNS: readonly Column<Repository>[] = [
  {
    id: 'repository',
    head: 'Repository',
    isText: true,
    sorts: ['asc', 'desc'],
    value: pathOf,
    cell: (one) => (
      <>
        <Link
          to="/$owner/$repository"
          params={{ owner: one.owner, repository: one.repository }}
          className="block truncate font-medium text-ink"
        >
          {pathOf(one)}
        </Link>
        <span className="block truncate text-xs text-soft">
          {one.default_branch ?? 'no default branch yet'}
          {one.last_run_at !== null && (
            <span className="lg:hidden">
              {' · ran '}
              <Time at={one.last_run_at} />
            </span>
          )}
        </span>
      </>
    ),
  },
  {
    id: 'tests',
    head: 'Tests',
    width: WIDE,
    sorts: ['desc', 'asc'],
    value: ({ tests }) => tests,
    cell: ({ tests }) => <Count value={tests} colour="" />,
  },
  {
    id: 'healthy',
    head: 'Healthy',
    width: WIDE,
    sorts: ['desc', 'asc'],
    value: healthyOf,
    cell: (one) => <Count value={healthyOf(one)} colour="text-healthy" />,
  },
  {
    id: 'broken',
    head: 'Broken',
    width: NARROW,
    sorts: ['desc', 'asc'],
    value: ({ broken_tests: broken }) => broken,
    cell: ({ broken_tests: broken }) => <Count value={broken} colour="text-broken" />,
  },
  {
    id: 'flaky',
    head: 'Flaky',
    hint: 'Calm ones are flaky, but have not failed on their own for weeks',
    width: NARROW,
    sorts: ['desc', 'asc'],
    value: ({ active_flaky_tests: active }) => active,
    cell: (one) => <Flaky active={one.active_flaky_tests} calm={one.flaky_tests - one.active_flaky_tests} />,
  },
  {
    id: 'failed',
    head: 'Failed in 14 days',
    width: 'w-28 lg:w-36 max-sm:hidden',
    sorts: ['desc', 'asc'],
    value: ({ failed_executions_by_day: days }) => days.reduce((sum, count) => sum + count, 0),
    cell: ({ failed_executions_by_day: days }) => (
      <DaySparkline counts={days} what="failed execution" className="h-7 w-full" />
    ),
  },
  {
    id: 'quarantined',
    head: 'Quarantined',
    width: 'w-28 max-lg:hidden',
    sorts: ['desc', 'asc'],
    value: ({ quarantined_tests: quarantined }) => quarantined,
    cell: (one) => (
      <>
        {formatCount(one.quarantined_tests)}
        {one.recovered_tests > 0 && (
          <span className="block text-xs text-healthy">{formatCount(one.recovered_tests)} recovered</span>
        )}
      </>
    ),
  },
  {
    id: 'last_run',
    head: 'Last run',
    width: 'w-28 max-lg:hidden',
    sorts: ['desc', 'asc'],
    value: ({ last_run_at: at }) => at,
    cell: ({ last_run_at: at }) => (
      <span className="text-soft">{at === null ? 'not in 14 days' : <Time at={at} />}</span>
    ),
  },
  {
    id: 'lag',
    head: 'Ingest lag',
    width: 'w-24 max-lg:hidden',
    sorts: ['desc', 'asc'],
    value: ({ ingest_lag_seconds: lag }) => lag,
    cell: ({ ingest_lag_seconds: lag }) => <span className="text-soft">{lag === null ? '–' : formatSeconds(lag)}</span>,
  },
];

interface CountProps {
  value: number;
  /** Unless there is none. */
  colour: string;
}

const Count = ({ value, colour }: CountProps) => (
  <span className={value === 0 ? 'text-soft' : `font-medium ${colour}`}>{formatCount(value)}</span>
);

/** Calm ones are no alarm. */
const Flaky = ({ active, calm }: { active: number; calm: number }) => (
  <>
    <Count value={active} colour="text-flaky" />
    {calm > 0 && <span className="block text-xs whitespace-nowrap text-soft">{formatCount(calm)} calm</span>}
  </>
);
