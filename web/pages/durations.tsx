/** How long tests take in their legs: the slowest, those that take most of the time, and those that grew. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { DurationPage } from '../../src/insights/durations.ts';
import { durationsQuery, type RepositoryPath } from '../api/queries.ts';
import { Commit } from '../ui/commit.tsx';
import { formatCount, formatCounted, formatSeconds, formatShare, formatTimes } from '../ui/format.ts';
import { Compare } from '../ui/host.tsx';
import { legWords } from '../ui/leg-words.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { TestName } from '../ui/test-name.tsx';
import { useTitle } from '../ui/title.ts';
import { formatUtcDay } from '../ui/utc.ts';

const route = getRouteApi('/signed/$owner/$repository/durations');
type Duration = DurationPage['durations'][number];

export function Durations() {
  const path = route.useParams();
  const { sort = 'share' } = route.useSearch();
  const found = useInfiniteQuery(durationsQuery(path, { sort }));
  useTitle(`Durations of ${path.owner}/${path.repository}`);
  const first = found.data?.pages[0]?.body;
  const rows = useMemo(() => found.data?.pages.flatMap(({ body }) => body.durations) ?? [], [found.data]);
  return (
    <>
      <h1 className="sr-only">Durations</h1>
      <div className="mb-3 flex min-h-8 flex-wrap items-center gap-3">
        {first && (
          <span className="text-soft">
            {formatCounted(first.total, 'test')} in their legs on the default branch, of the last 28 days
            {!first.is_complete && ', those that take the most time'}; {formatCount(first.grown)} grew.
          </span>
        )}
      </div>
      <div className="card overflow-hidden">
        {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
        {!found.error && !first && <Loading rows={12} />}
        {first && (
          <Rows
            path={path}
            rows={rows}
            total={sort === 'growth' ? first.grown : first.total}
            hasAny={first.total > 0}
          />
        )}
        {found.hasNextPage && (
          <div className="flex justify-center border-t border-line p-3">
            <button
              type="button"
              className="button"
              disabled={found.isFetching}
              onClick={() => void found.fetchNextPage()}
            >
              {found.isFetchingNextPage ? 'Loading …' : 'More tests'}
            </button>
          </div>
        )}
      </div>
    </>
  );
}

interface RowsProps {
  path: RepositoryPath;
  rows: readonly Duration[];
  total: number;
  hasAny: boolean;
}

function Rows({ path: { owner, repository }, rows, total, hasAny }: RowsProps) {
  const columns = useMemo(() => columnsOf({ owner, repository }), [owner, repository]);
  if (rows.length === 0)
    return (
      <Empty title={hasAny ? 'No test takes longer than it did' : 'No test has passed'}>
        <p>
          {hasAny
            ? 'A test that grows is shown with the day and the commits, some five days later.'
            : 'Durations are those of tests that passed on the default branch in the last 28 days.'}
        </p>
      </Empty>
    );
  return (
    <Table
      label="Durations"
      noun="test"
      columns={columns}
      rows={rows}
      keyOf={(one) => JSON.stringify([one.test_id, one.pipeline_name, one.job_name, one.axes])}
      first={FIRST}
      total={total}
    />
  );
}

const FIRST = { id: 'share', direction: 'desc' } as const;

const columnsOf = (path: RepositoryPath): readonly Column<Duration>[] => [
  {
    id: 'test',
    head: 'Test',
    isText: true,
    width: 'w-full max-w-0 min-w-48',
    value: (one) => one.test_name,
    cell: (one) => (
      <>
        <Link
          to="/$owner/$repository/tests/$testId"
          params={{ ...path, testId: one.test_id }}
          className="block min-h-6 overflow-hidden font-medium text-ink"
          aria-label={one.test_name}
        >
          <TestName name={one.test_name} />
        </Link>
        <span className="block text-xs text-soft md:hidden">
          {placeOf(one)}
          {one.growth && ` · grown ${formatTimes(one.growth.after_seconds / one.growth.before_seconds)}`}
        </span>
      </>
    ),
  },
  {
    id: 'place',
    head: 'Leg',
    isText: true,
    width: 'min-w-48 max-md:hidden',
    value: placeOf,
    cell: (one) => <span className="text-soft">{placeOf(one)}</span>,
  },
  {
    id: 'median',
    head: 'Median',
    sorts: ['desc'],
    value: (one) => one.median_seconds,
    cell: (one) => formatSeconds(one.median_seconds),
  },
  {
    id: 'p95',
    head: 'p95',
    hint: '19 of 20 that passed took no longer',
    width: 'max-md:hidden',
    sorts: ['desc'],
    value: (one) => one.p95_seconds,
    cell: (one) => formatSeconds(one.p95_seconds),
  },
  {
    id: 'executions',
    head: 'Passed',
    hint: 'Executions that passed, in 28 days',
    isExtra: true,
    value: (one) => one.executions_count,
    cell: (one) => formatCount(one.executions_count),
  },
  {
    id: 'share',
    head: 'Share',
    hint: 'Of the time of all tests',
    sorts: ['desc'],
    value: (one) => one.total_share,
    cell: (one) => formatShare(one.total_share),
  },
  {
    id: 'growth',
    head: 'Grown',
    isText: true,
    width: 'min-w-48 max-md:hidden',
    sorts: ['desc'],
    value: ({ growth }) => (growth === null ? null : growth.after_seconds / growth.before_seconds),
    cell: (one) => <Grown path={path} growth={one.growth} />,
  },
];

const placeOf = (one: Duration): string => `${one.pipeline_name} › ${legWords(one.job_name, one.axes)}`;

function Grown({ path, growth }: { path: RepositoryPath; growth: Duration['growth'] }) {
  if (growth === null) return null;
  const { since, before_seconds: before, after_seconds: after, last_commit_before, first_commit_after } = growth;
  return (
    <span>
      <span className="font-medium text-broken">▲ {formatTimes(after / before)}</span>: {formatSeconds(before)} →{' '}
      {formatSeconds(after)} since {formatUtcDay(Date.parse(since))}
      {last_commit_before !== null && first_commit_after !== null && (
        <span className="block text-xs text-soft">
          after <Commit path={path} commit={last_commit_before} />, up to{' '}
          <Commit path={path} commit={first_commit_after} />{' '}
          <Compare path={path} from={last_commit_before} to={first_commit_after} />
        </span>
      )}
    </span>
  );
}
