/** Causes: what many failures of the default branch have in common. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { CauseList } from '../../src/insights/causes.ts';
import { causesQuery, type RepositoryPath } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { DaySparkline, failuresByDay } from '../ui/day-sparkline.tsx';
import { formatCounted, formatShares } from '../ui/format.ts';
import { PagedList } from '../ui/paged-list.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { daysUpTo, UTC_HINT } from '../ui/utc.ts';

const route = getRouteApi('/signed/$owner/$repository/causes');
type Cause = CauseList['causes'][number];

const SORTS = [
  [undefined, 'Newest failure'],
  ['failures', 'Most failures'],
  ['tests', 'Most tests'],
  ['cost', 'Highest cost'],
] as const;
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
  const causes = found.data?.pages.flatMap((page) => page.body.causes) ?? [];
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
        <Choice
          label="Order"
          value={sort}
          options={SORTS}
          onChoose={(value) => void navigate({ search: (search) => ({ ...search, sort: value }), replace: true })}
        />
      </div>
      <div className="card overflow-hidden">
        <PagedList
          found={found}
          rows={causes}
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
          {(cause) => <Row key={cause.cause_id} path={path} cause={cause} window={window} />}
        </PagedList>
      </div>
      <p className="mt-2 text-xs text-soft">{UTC_HINT}</p>
    </>
  );
}

interface RowProps {
  path: RepositoryPath;
  cause: Cause;
  window: { start: number; end: number };
}

function Row({ path, cause, window }: RowProps) {
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-1 border-b border-line px-4 py-2.5 last:border-0 hover:bg-raised sm:grid sm:grid-cols-[minmax(0,1fr)_10rem_9rem_6.5rem]">
      <span className="min-w-0 max-sm:basis-full">
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
      </span>
      <DaySparkline
        counts={failuresByDay(cause.failures_by_day, window)}
        end={window.end}
        what="failure"
        className="h-7 w-full max-sm:w-32"
      />
      <span className="text-xs text-soft">
        <span className="block font-medium text-ink">{formatCounted(cause.test_count, 'test')}</span>
        {cause.cost === null
          ? formatCounted(cause.failure_count, 'failure')
          : `${formatShares(cause.cost.red_runs)} red runs`}
      </span>
      <span className="text-right text-soft max-sm:ml-auto">
        <Time at={cause.last_failure_at} />
      </span>
    </li>
  );
}
