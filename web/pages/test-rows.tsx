/** The rows of tests. */
import { Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { DaySparkline } from '../ui/day-sparkline.tsx';
import { formatCount, formatCounted, formatSeconds, formatShare, formatShares } from '../ui/format.ts';
import { HealthBadge } from '../ui/health.tsx';
import { Hint } from '../ui/hint.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { TestName } from '../ui/test-name.tsx';
import { Time } from '../ui/time.tsx';

type Found = TestSearchAnswer['tests'][number];

interface Filter {
  pipeline?: string;
  job?: string;
  ownedBy?: string;
  unowned?: true | undefined;
}

interface TestRowsProps {
  path: RepositoryPath;
  tests: readonly Found[];
  /** With those that are not loaded yet. */
  total: number;
  /** The rows of the search before, while those of this one are on their way. */
  isStale: boolean;
  hasMore: boolean;
  onMore: () => void;
  onFilter: (filter: Filter) => void;
}

/** Before the rest of a page is in view, so that one does not wait for it. */
const AHEAD_ROWS = 20;
const WORST_FIRST = { id: 'health_status', direction: 'desc' } as const;

export function TestRows({ path, tests, total, isStale, hasMore, onMore, onFilter }: TestRowsProps) {
  const { owner, repository } = path;
  const columns = useMemo(() => columnsOf({ owner, repository }, onFilter), [owner, repository, onFilter]);
  return (
    <Table
      label="Tests"
      noun="test"
      columns={columns}
      rows={tests}
      keyOf={(test) => `${test.test_id} ${test.pipeline_name} ${test.job_name}`}
      first={WORST_FIRST}
      total={total}
      isStale={isStale}
      onSeen={(last) => {
        if (hasMore && last >= tests.length - AHEAD_ROWS) onMore();
      }}
    />
  );
}

/** Named as the service sorts by them. */
const columnsOf = (path: RepositoryPath, onFilter: (filter: Filter) => void): readonly Column<Found>[] => [
  {
    id: 'health_status',
    head: 'Health',
    hint: 'Worst first, and by failures among flaky and broken tests',
    isText: true,
    width: 'w-24 max-md:hidden',
    sorts: ['desc'],
    value: ({ metrics }) => (metrics.health_status === 'flaky' && !metrics.is_active ? 'calm' : metrics.health_status),
    cell: ({ metrics }) => <HealthBadge health={metrics.health_status} isActive={metrics.is_active} />,
  },
  {
    id: 'test_name',
    head: 'Test',
    isText: true,
    sorts: ['asc', 'desc'],
    value: ({ test_name: name }) => name,
    cell: (test) => <Name path={path} test={test} />,
  },
  {
    id: 'owner',
    head: 'Owner',
    isText: true,
    width: 'w-40 max-2xl:hidden',
    value: ({ owners }) => owners.join(' '),
    cell: ({ owners }) => <Owners owners={owners} onFilter={onFilter} />,
  },
  {
    id: 'place',
    head: 'Pipeline · job',
    isText: true,
    width: 'w-40 lg:w-48 max-md:hidden',
    value: ({ pipeline_name: pipeline, job_name: job }) => `${pipeline} · ${job}`,
    cell: ({ pipeline_name: pipeline, job_name: job }) => (
      <span className="flex min-w-0 gap-1 text-soft">
        <Only label="pipeline" value={pipeline} onClick={() => onFilter({ pipeline })} />
        <span aria-hidden="true">·</span>
        <Only label="job" value={job} onClick={() => onFilter({ job })} />
      </span>
    ),
  },
  {
    id: 'days',
    head: 'Failed in 14 days',
    width: 'w-32 max-md:hidden',
    value: ({ metrics }) => metrics.failed_executions_by_day.reduce((sum, count) => sum + count, 0),
    cell: ({ metrics }) => (
      <DaySparkline counts={metrics.failed_executions_by_day} what="failed execution" className="h-6 w-full" />
    ),
  },
  {
    id: 'failed_executions_count',
    head: 'Failed in 30 days',
    width: 'w-20 md:w-36',
    sorts: ['desc'],
    value: ({ metrics }) => metrics.failed_executions,
    cell: ({ metrics: { failed_executions: failed, executions } }) => (
      <Hint text={`${formatCount(failed)} of ${formatCounted(executions, 'execution')} failed in the last 30 days`}>
        {failed > 0 ? (
          <>
            {formatCount(failed)} <span className="text-soft max-md:hidden">{formatShare(failed / executions)}</span>
          </>
        ) : (
          <span className="text-soft">–</span>
        )}
      </Hint>
    ),
  },
  {
    id: 'failed_executions_ratio',
    head: 'Share that failed',
    width: 'w-32 max-md:hidden',
    sorts: ['desc'],
    isExtra: true,
    value: ({ metrics: { failed_executions: failed, executions } }) => (executions === 0 ? null : failed / executions),
    cell: ({ metrics: { failed_executions: failed, executions } }) => (
      <span className="text-soft">{executions === 0 ? '–' : formatShare(failed / executions)}</span>
    ),
  },
  {
    id: 'executions_count',
    head: 'Executions',
    hint: 'In the last 30 days',
    width: 'w-28 max-md:hidden',
    sorts: ['desc'],
    isExtra: true,
    value: ({ metrics }) => metrics.executions,
    cell: ({ metrics }) => formatCount(metrics.executions),
  },
  {
    id: 'median_seconds',
    head: 'Median',
    hint: 'Of the durations of executions that passed',
    width: 'w-20 max-lg:hidden',
    sorts: ['desc'],
    value: ({ metrics }) => metrics.median_seconds,
    cell: ({ metrics: { median_seconds: median } }) => (
      <span className="text-soft">{median === null ? '–' : formatSeconds(median)}</span>
    ),
  },
  {
    id: 'cost',
    head: 'Red runs',
    hint: 'Of the last 28 days, shared out evenly among the tests that failed in each. Counted in this order',
    width: 'w-24 max-md:hidden',
    sorts: ['desc'],
    isExtra: true,
    value: ({ cost }) => cost?.red_runs ?? null,
    cell: ({ cost }) => (cost === null ? <span className="text-soft">–</span> : formatShares(cost.red_runs)),
  },
  {
    id: 'last_failure_at',
    head: 'Last failure',
    width: 'w-32 max-lg:hidden',
    sorts: ['desc'],
    value: ({ metrics }) => metrics.last_failure_at,
    cell: ({ metrics: { last_failure_at: at } }) => (
      <span className="text-soft">{at === null ? '–' : <Time at={at} />}</span>
    ),
  },
];

/** On a phone, with what else is known of the test. */
const Name = ({ path, test }: { path: RepositoryPath; test: Found }) => (
  <>
    <Link
      to="/$owner/$repository/tests/$testId"
      params={{ ...path, testId: test.test_id }}
      className="block min-h-6 font-medium text-ink"
      aria-label={test.test_name}
    >
      <TestName name={test.test_name} />
    </Link>
    <span className="mt-0.5 flex items-center gap-2 md:hidden">
      <HealthBadge health={test.metrics.health_status} isActive={test.metrics.is_active} />
      <span className="min-w-0 flex-1 truncate text-xs text-soft">
        {test.pipeline_name} · {test.job_name}
      </span>
      <DaySparkline
        counts={test.metrics.failed_executions_by_day}
        what="failed execution"
        className="h-4 w-12 shrink-0"
      />
    </span>
  </>
);

function Owners({ owners, onFilter }: { owners: readonly string[]; onFilter: (filter: Filter) => void }) {
  const [owner, ...others] = owners;
  if (owner === undefined) return <span className="text-soft">–</span>;
  return (
    <span className="flex min-w-0 text-soft">
      <Only label="owner" value={owner} onClick={() => onFilter({ ownedBy: owner, unowned: undefined })} />
      {others.length > 0 && (
        <Hint text={owners.join('\n')} className="shrink-0 pl-1 text-xs">
          +{formatCount(others.length)}
        </Hint>
      )}
    </span>
  );
}

const Only = ({ label, value, onClick }: { label: string; value: string; onClick: () => void }) => (
  <button
    type="button"
    className="truncate hover:text-ink hover:underline"
    data-hint={`Only ${label} ${value}`}
    onClick={onClick}
  >
    {value}
  </button>
);
