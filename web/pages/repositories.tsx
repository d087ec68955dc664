// biome-ignore-all lint/a11y/useSemanticElements: rows that come and go cannot be those of a table
/** The home of the service: what changed this week, and all repositories, those with the most trouble first. */
import { useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { type ReactNode, useCallback, useState } from 'react';
import type { RepositoryList } from '../../src/insights/repositories.ts';
import { firstRepositoriesQuery, repositoriesQuery, repositoryChangesQuery } from '../api/queries.ts';
import { DaySparkline } from '../ui/day-sparkline.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { VirtualRows } from '../ui/virtual-rows.tsx';
import { RepositoriesWeek } from './repositories-week.tsx';

const route = getRouteApi('/signed/');
type Repository = RepositoryList['repositories'][number];

/** With fewer, there is nothing to find. */
const SEARCHED_MIN = 8;

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
  const all = (isLong && whole.data ? whole : first).data?.repositories ?? [];
  const found = all.filter((one) => pathOf(one).toLowerCase().includes(q.toLowerCase()));
  return (
    <>
      <div className="mb-4 flex flex-wrap items-center gap-3">
        <h1 className="mr-auto text-lg font-semibold">Repositories</h1>
        {(all.length > SEARCHED_MIN || q !== '') && (
          <SearchField label="Find a repository" placeholder="Find a repository" value={q} onSearch={onSearch} />
        )}
      </div>
      {q === '' && first.data && changes.data && changes.data.total > 0 && (
        <div className="mb-5">
          <RepositoriesWeek found={changes.data} />
        </div>
      )}
      <div className="card overflow-hidden">
        {(first.isPending || changes.isPending || (found.length === 0 && isWaiting)) && <Loading />}
        {error && (
          <Failed
            error={error}
            reset={() =>
              void Promise.all([first, whole, changes].filter((one) => one.error).map((one) => one.refetch()))
            }
          />
        )}
        {found.length > 0 && !changes.isPending && <Rows repositories={found} />}
        {first.data && !changes.isPending && all.length === 0 && (
          <Empty title="No repository has sent results yet">
            <p>Open the page of the one you want to begin with. It shows how to send its first report.</p>
            <OpenRepository />
          </Empty>
        )}
        {all.length > 0 && found.length === 0 && !isWaiting && <Empty title={`No repository has “${q}” in its name`} />}
      </div>
    </>
  );
}

const ROW_PX = 48;
const GRID =
  'grid items-center gap-x-3 px-4 grid-cols-[minmax(0,1fr)_3.5rem_3.5rem] sm:grid-cols-[minmax(0,1fr)_3.5rem_3.5rem_7rem] lg:grid-cols-[minmax(0,1fr)_4.5rem_4.5rem_4rem_4rem_9rem_6rem_6.5rem_5rem]';
const WIDE = 'max-lg:hidden';
const COLUMNS = [
  ['Repository', ''],
  ['Tests', `text-right ${WIDE}`],
  ['Healthy', `text-right ${WIDE}`],
  ['Broken', 'text-right'],
  ['Flaky', 'text-right'],
  ['Failed in 14 days', 'max-sm:hidden'],
  ['Quarantined', `text-right ${WIDE}`],
  ['Last run', `text-right ${WIDE}`],
  ['Ingest lag', `text-right ${WIDE}`],
] as const;

const pathOf = ({ owner, repository }: Repository): string => `${owner}/${repository}`;

const Rows = ({ repositories }: { repositories: readonly Repository[] }) => (
  <VirtualRows
    label="Repositories"
    columns={COLUMNS}
    grid={GRID}
    rowPx={ROW_PX}
    count={repositories.length}
    keyOf={(index) => (repositories[index] ? pathOf(repositories[index]) : '')}
  >
    {(index) => repositories[index] && <Cells one={repositories[index]} />}
  </VirtualRows>
);

function Cells({ one }: { one: Repository }) {
  return (
    <>
      <div role="cell" className="min-w-0">
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
      </div>
      <Count value={one.tests} colour="" className={WIDE} />
      <Count value={one.tests - one.flaky_tests - one.broken_tests} colour="text-healthy" className={WIDE} />
      <Count value={one.broken_tests} colour="text-broken" />
      <Flaky active={one.active_flaky_tests} calm={one.flaky_tests - one.active_flaky_tests} />
      <div role="cell" className="max-sm:hidden">
        <DaySparkline counts={one.failed_executions_by_day} what="failed execution" className="h-7 w-full" />
      </div>
      <div role="cell" className={`text-right tabular-nums ${WIDE}`}>
        {formatCount(one.quarantined_tests)}
        {one.recovered_tests > 0 && (
          <span className="block text-xs text-healthy">{formatCount(one.recovered_tests)} recovered</span>
        )}
      </div>
      <Cell>{one.last_run_at === null ? 'not in 14 days' : <Time at={one.last_run_at} />}</Cell>
      <Cell>{one.ingest_lag_seconds === null ? '–' : formatSeconds(one.ingest_lag_seconds)}</Cell>
    </>
  );
}

const Cell = ({ children }: { children: ReactNode }) => (
  <div role="cell" className={`text-right text-soft tabular-nums ${WIDE}`}>
    {children}
  </div>
);

interface CountProps {
  value: number;
  /** Unless there is none. */
  colour: string;
  className?: string;
}

const Count = ({ value, colour, className = '' }: CountProps) => (
  <div
    role="cell"
    className={`text-right tabular-nums ${value === 0 ? 'text-soft' : `font-medium ${colour}`} ${className}`}
  >
    {formatCount(value)}
  </div>
);

/** Calm ones are no alarm. */
const Flaky = ({ active, calm }: { active: number; calm: number }) => (
  <div role="cell" className="text-right tabular-nums">
    <span className={active === 0 ? 'text-soft' : 'font-medium text-flaky'}>{formatCount(active)}</span>
    {calm > 0 && <span className="block text-xs whitespace-nowrap text-soft">{formatCount(calm)} calm</span>}
  </div>
);

function OpenRepository() {
  const [name, setName] = useState('');
  const [owner = '', repository = ''] = name.trim().split('/');
  const isComplete = owner !== '' && repository !== '';
  return (
    <form className="mt-3 flex justify-center gap-2" onSubmit={(event) => event.preventDefault()}>
      <input
        aria-label="Owner and name of the repository"
        placeholder="acme/shop"
        className="field w-56"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <Link
        to="/$owner/$repository"
        params={{ owner, repository }}
        disabled={!isComplete}
        className="button aria-disabled:opacity-60"
      >
        Open
      </Link>
    </form>
  );
}
