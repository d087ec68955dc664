/** Causes: what many failures of the default branch have in common. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import type { CauseList } from '../../src/insights/causes.ts';
import { causesQuery, type RepositoryPath } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { DaySparkline, failuresByDay } from '../ui/day-sparkline.tsx';
import { formatCount, formatShares } from '../ui/format.ts';
import { Paged } from '../ui/paged-list.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { daysUpTo, UTC_HINT } from '../ui/utc.ts';

const route = getRouteApi('/signed/$owner/$repository/causes');
type Cause = CauseList['causes'][number];

const WINDOWS = [
  ['1', 'Today'],
  ['7', 'Last 7 days'],
  [undefined, 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const;
const HEALTHS = [
  [undefined, 'Tests of any health'],
  ['broken', 'Hit a broken test'],
  ['flaky', 'Hit a flaky test'],
  ['healthy', 'Hit a healthy test'],
] as const;

export function Causes() {
  const path = route.useParams();
  const { q, sort, days, health } = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Causes of ${path.owner}/${path.repository}`);
  const window = daysUpTo(Date.now(), Number(days ?? 30));
  const start = new Date(window.start).toISOString();
  const found = useInfiniteQuery({
    ...causesQuery(path, { q, sort, health, start }),
    refetchInterval: 30_000,
    placeholderData: (before) => before,
  });
  const onSearch = useCallback(
    (text: string) =>
      void navigate({
        search: ({ q: _, ...others }) => (text === '' ? others : { ...others, q: text }),
        replace: true,
      }),
    [navigate],
  );
  const causes = useMemo(() => found.data?.pages.flatMap((page) => page.body.causes) ?? [], [found.data]);
  const { owner, repository } = path;
  const columns = useMemo(
    () => columnsOf({ owner, repository }, { start: window.start, end: window.end }),
    [owner, repository, window.start, window.end],
  );
  const isNarrowed = q !== undefined || health !== undefined;
  return (
    <>
      <h1 className="sr-only">Causes</h1>
      <div className="mb-3 flex flex-wrap gap-2">
        <SearchField label="Message" placeholder='Words of a message, "a phrase"' value={q ?? ''} onSearch={onSearch} />
        <Choice
          label="Window"
          value={days}
          options={WINDOWS}
          onChoose={(value) => void navigate({ search: (search) => ({ ...search, days: value }), replace: true })}
        />
        <Choice
          label="Health"
          value={health}
          options={HEALTHS}
          onChoose={(value) => void navigate({ search: (search) => ({ ...search, health: value }), replace: true })}
        />
      </div>
      <div className="card overflow-hidden">
        <Paged
          found={found}
          count={causes.length}
          older="More causes"
          empty={
            <Empty title={isNarrowed ? 'No cause has this' : 'Nothing failed on the default branch in this window'}>
              <p>
                {isNarrowed
                  ? 'A search finds whole words of types and messages, in any case.'
                  : 'Failures with something in common appear here as one cause, a moment after they arrive.'}
              </p>
            </Empty>
          }
        >
          <Table
            label="Causes"
            noun="cause"
            columns={columns}
            rows={causes}
            keyOf={({ cause_id: id }) => id}
            first={FIRST}
            isMore={found.hasNextPage}
          />
        </Paged>
      </div>
      <p className="mt-2 text-xs text-soft">{UTC_HINT}</p>
    </>
  );
}

const FIRST = { id: 'newest', direction: 'desc' } as const;

/** Named as the service sorts by them. */
const columnsOf = (path: RepositoryPath, window: { start: number; end: number }): readonly Column<Cause>[] => [
  {
    id: 'cause',
    head: 'Cause',
    isText: true,
    width: 'w-full max-w-0 sm:min-w-48',
    value: ({ exception_type: type, exception_message: message }) => [type, message].filter(Boolean).join(': '),
    cell: (cause) => (
      <>
        <Link
          to="/$owner/$repository/causes/$cause"
          params={{ ...path, cause: cause.cause_id }}
          className="block truncate font-medium text-ink"
        >
          {cause.exception_message || cause.exception_type || 'No message'}
        </Link>
        <span className="block truncate text-xs text-soft">
          {cause.exception_type} · {cause.newest_test.test_name}
          {cause.owner !== null && ` · owner ${cause.owner}`}
          {cause.quarantine !== null && ' · quarantined'}
        </span>
      </>
    ),
  },
  {
    id: 'days',
    head: 'By day',
    hint: UTC_HINT,
    width: 'min-w-40 max-sm:hidden',
    value: ({ failures_by_day: days }) => days.reduce((sum, { failure_count: count }) => sum + count, 0),
    cell: ({ failures_by_day: days }) => (
      <DaySparkline counts={failuresByDay(days, window)} end={window.end} what="failure" className="h-7 w-full" />
    ),
  },
  {
    id: 'tests',
    head: 'Tests',
    width: 'max-sm:hidden',
    sorts: ['desc'],
    value: ({ test_count: tests }) => tests,
    cell: ({ test_count: tests }) => formatCount(tests),
  },
  {
    id: 'failures',
    head: 'Failures',
    sorts: ['desc'],
    value: ({ failure_count: failures }) => failures,
    cell: ({ failure_count: failures }) => formatCount(failures),
  },
  {
    id: 'cost',
    head: 'Red runs',
    hint: 'Shared out evenly among what failed in each. Counted in this order',
    width: 'max-sm:hidden',
    sorts: ['desc'],
    value: ({ cost }) => cost?.red_runs ?? null,
    cell: ({ cost }) => (cost === null ? <span className="text-soft">–</span> : formatShares(cost.red_runs)),
  },
  {
    id: 'newest',
    head: 'Last failure',
    sorts: ['desc'],
    value: ({ last_failure_at: at }) => at,
    cell: ({ last_failure_at: at }) => (
      <span className="text-soft">
        <Time at={at} />
      </span>
    ),
  },
];
