// biome-ignore-all lint/a11y/useSemanticElements: rows that come and go cannot be those of a table
/** The rows of tests. */
import { Link } from '@tanstack/react-router';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { DaySparkline } from '../ui/day-sparkline.tsx';
import { formatCount, formatCounted, formatShare } from '../ui/format.ts';
import { HealthBadge } from '../ui/health.tsx';
import { useIsWide } from '../ui/media.ts';
import { TestName } from '../ui/test-name.tsx';
import { Time } from '../ui/time.tsx';
import { VirtualRows } from '../ui/virtual-rows.tsx';

type Found = TestSearchAnswer['tests'][number];

interface TestRowsProps {
  path: RepositoryPath;
  tests: readonly Found[];
  /** With those that are not loaded yet. */
  total: number;
  /** The rows of the search before, while those of this one are on their way. */
  isStale: boolean;
  hasMore: boolean;
  onMore: () => void;
  onFilter: (filter: { pipeline?: string; job?: string; ownedBy?: string; unowned?: true | undefined }) => void;
}

const ROW_PX = 44;
/** On a phone, a row has two lines: the name, and what is known of it. */
const NARROW_ROW_PX = 60;
const GRID =
  'grid grid-cols-[minmax(0,1fr)_3rem_4.5rem] gap-x-2 md:gap-x-3 md:grid-cols-[5.5rem_minmax(0,1fr)_10rem_7rem_7rem] lg:grid-cols-[5.5rem_minmax(0,1fr)_12rem_8rem_7rem_7.5rem] xl:grid-cols-[5.5rem_minmax(0,1fr)_9rem_10rem_8rem_7rem_7.5rem] items-center px-4';
/** Before the rest of a page is in view, so that one does not wait for it. */
const AHEAD_ROWS = 20;

export function TestRows({ path, tests, total, isStale, hasMore, onMore, onFilter }: TestRowsProps) {
  const rowPx = useIsWide() ? ROW_PX : NARROW_ROW_PX;
  return (
    <VirtualRows
      label="Tests"
      columns={[
        ['Health', 'max-md:sr-only'],
        [formatCounted(total, 'test'), ''],
        ['Owner', 'max-xl:hidden'],
        ['Pipeline · job', 'max-md:hidden'],
        ['Failed in 14 days', 'max-md:sr-only'],
        ['Failed in 30 days', 'text-right max-md:col-span-2'],
        ['Last failure', 'text-right max-lg:hidden'],
      ]}
      grid={GRID}
      rowPx={rowPx}
      count={tests.length}
      total={total}
      isStale={isStale}
      keyOf={(index) => keyOf(tests[index])}
      onSeen={(last) => {
        if (hasMore && last >= tests.length - AHEAD_ROWS) onMore();
      }}
    >
      {(index) => tests[index] && <Cells path={path} test={tests[index]} onFilter={onFilter} />}
    </VirtualRows>
  );
}

const keyOf = (test: Found | undefined): string =>
  test ? `${test.test_id} ${test.pipeline_name} ${test.job_name}` : '';

interface CellsProps {
  path: RepositoryPath;
  test: Found;
  onFilter: TestRowsProps['onFilter'];
}

function Cells({ path, test, onFilter }: CellsProps) {
  const { health_status: health, failed_executions: failed, executions, last_failure_at: lastFailure } = test.metrics;
  const { failed_executions_by_day: failedByDay } = test.metrics;
  const [owner] = test.owners;
  return (
    <>
      <div role="cell" className="flex min-w-0 items-center gap-2 max-md:order-2">
        <HealthBadge health={health} isActive={test.metrics.is_active} />
        <span className="truncate text-xs text-soft md:hidden">
          {test.pipeline_name} · {test.job_name}
        </span>
      </div>
      <div role="cell" className="min-w-0 max-md:order-1 max-md:col-span-3">
        <Link
          to="/$owner/$repository/tests/$testId"
          params={{ ...path, testId: test.test_id }}
          className="block font-medium text-ink"
          aria-label={test.test_name}
        >
          <TestName name={test.test_name} />
        </Link>
      </div>
      <div role="cell" className="flex min-w-0 text-soft max-xl:hidden" title={test.owners.join(', ')}>
        {owner === undefined ? (
          '–'
        ) : (
          <Filter label="owner" value={owner} onClick={(ownedBy) => onFilter({ ownedBy, unowned: undefined })} />
        )}
        {test.owners.length > 1 && (
          <span className="shrink-0 pl-1 text-xs">+{formatCount(test.owners.length - 1)}</span>
        )}
      </div>
      <div role="cell" className="flex min-w-0 gap-1 text-soft max-md:hidden">
        <Filter label="pipeline" value={test.pipeline_name} onClick={(pipeline) => onFilter({ pipeline })} />
        <span aria-hidden="true">·</span>
        <Filter label="job" value={test.job_name} onClick={(job) => onFilter({ job })} />
      </div>
      <div role="cell" className="max-md:order-3">
        <DaySparkline counts={failedByDay} what="failed execution" className="h-6 w-full max-md:h-4" />
      </div>
      <div
        role="cell"
        className="text-right tabular-nums max-md:order-4 max-md:text-xs"
        title={`${formatCount(failed)} of ${formatCounted(executions, 'execution')} failed in the last 30 days`}
      >
        {failed > 0 ? (
          <>
            {formatCount(failed)} <span className="text-soft">{formatShare(failed / executions)}</span>
          </>
        ) : (
          <span className="text-soft">–</span>
        )}
      </div>
      <div role="cell" className="text-right text-soft max-lg:hidden">
        {lastFailure === null ? '–' : <Time at={lastFailure} />}
      </div>
    </>
  );
}

const Filter = ({ label, value, onClick }: { label: string; value: string; onClick: (value: string) => void }) => (
  <button
    type="button"
    className="truncate hover:text-ink hover:underline"
    title={`Only ${label} ${value}`}
    onClick={() => onClick(value)}
  >
    {value}
  </button>
);
