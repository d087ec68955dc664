// biome-ignore-all lint/a11y/useSemanticElements: rows that come and go cannot be those of a table
// biome-ignore-all lint/a11y/useFocusableInteractive: the links in the rows are
/** The rows of tests. Only those in view exist, so a hundred thousand scroll like ten. */
import { Link } from '@tanstack/react-router';
import { useWindowVirtualizer } from '@tanstack/react-virtual';
import { type KeyboardEvent, useEffect, useLayoutEffect, useRef, useState } from 'react';
import type { TestSearchAnswer } from '../../src/insights/search.ts';
import type { RepositoryPath } from '../api/queries.ts';
import { formatCount, formatCounted, formatShare } from '../ui/format.ts';
import { HealthBadge } from '../ui/health.tsx';
import { useIsWide } from '../ui/media.ts';
import { TestName } from '../ui/test-name.tsx';
import { Time } from '../ui/time.tsx';

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
  onFilter: (filter: { pipeline?: string; job?: string }) => void;
}

const ROW_PX = 44;
/** On a phone, a row has two lines: the name, and what is known of it. */
const NARROW_ROW_PX = 60;
const GRID =
  'grid grid-cols-[minmax(0,1fr)_auto] md:grid-cols-[5.5rem_minmax(0,1fr)_12rem_7rem_7.5rem] items-center gap-x-3 px-4';
const COLUMNS = [
  ['Health', 'max-md:sr-only'],
  ['', ''],
  ['Pipeline · job', 'max-md:hidden'],
  ['Failed in 30 days', 'text-right'],
  ['Last failure', 'text-right max-md:hidden'],
] as const;

export function TestRows({ path, tests, total, isStale, hasMore, onMore, onFilter }: TestRowsProps) {
  const list = useRef<HTMLDivElement>(null);
  const [offset, setOffset] = useState(0);
  const rowPx = useIsWide() ? ROW_PX : NARROW_ROW_PX;
  // After each: the filters above may have got another line.
  useLayoutEffect(() => setOffset(list.current?.offsetTop ?? 0));
  const rows = useWindowVirtualizer({
    count: tests.length,
    estimateSize: () => rowPx,
    overscan: 10,
    scrollMargin: offset,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height is the reason to measure again
  useLayoutEffect(() => rows.measure(), [rows, rowPx]);
  const items = rows.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (hasMore && last >= tests.length - 20) onMore();
  });

  /** Up and down move from test to test. */
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    const row = event.target instanceof Element ? event.target.closest('[data-index]') : null;
    const index = Number(row?.getAttribute('data-index')) + step;
    if (!row || index < 0 || index >= tests.length) return;
    event.preventDefault();
    rows.scrollToIndex(index, { align: 'auto' });
    requestAnimationFrame(() => list.current?.querySelector<HTMLElement>(`[data-index="${index}"] a`)?.focus());
  };

  return (
    <div role="table" aria-label="Tests" aria-rowcount={total + 1}>
      <div role="row" className={`${GRID} h-9 border-b border-line text-xs font-medium text-soft`}>
        {COLUMNS.map(([name, className]) => (
          <div key={name} role="columnheader" className={className}>
            {name === '' ? formatCounted(total, 'test') : name}
          </div>
        ))}
      </div>
      <div
        ref={list}
        role="rowgroup"
        className={`relative ${isStale ? 'opacity-60' : ''}`}
        style={{ height: rows.getTotalSize() }}
        onKeyDown={move}
      >
        {items.map(({ index, start }) => {
          const test = tests[index];
          return (
            test && (
              <Row
                key={`${test.test_id} ${test.pipeline_name} ${test.job_name}`}
                path={path}
                test={test}
                index={index}
                top={start - rows.options.scrollMargin}
                onFilter={onFilter}
              />
            )
          );
        })}
      </div>
    </div>
  );
}

interface RowProps {
  path: RepositoryPath;
  test: Found;
  index: number;
  top: number;
  onFilter: TestRowsProps['onFilter'];
}

function Row({ path, test, index, top, onFilter }: RowProps) {
  const { health_status: health, failed_executions: failed, executions, last_failure_at: lastFailure } = test.metrics;
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      data-index={index}
      className={`${GRID} absolute inset-x-0 h-15 content-center border-b border-line focus-within:bg-raised hover:bg-raised md:h-11`}
      style={{ transform: `translateY(${top}px)` }}
    >
      <div role="cell" className="flex min-w-0 items-center gap-2 max-md:order-2">
        <HealthBadge health={health} />
        <span className="truncate text-xs text-soft md:hidden">
          {test.pipeline_name} · {test.job_name}
        </span>
      </div>
      <div role="cell" className="min-w-0 max-md:order-1 max-md:col-span-2">
        <Link
          to="/$owner/$repository/tests/$testId"
          params={{ ...path, testId: test.test_id }}
          className="block font-medium text-ink"
          aria-label={test.test_name}
        >
          <TestName name={test.test_name} />
        </Link>
      </div>
      <div role="cell" className="flex min-w-0 gap-1 text-soft max-md:hidden">
        <Filter label="pipeline" value={test.pipeline_name} onClick={(pipeline) => onFilter({ pipeline })} />
        <span aria-hidden="true">·</span>
        <Filter label="job" value={test.job_name} onClick={(job) => onFilter({ job })} />
      </div>
      <div
        role="cell"
        className="text-right tabular-nums max-md:order-3 max-md:text-xs"
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
      <div role="cell" className="text-right text-soft max-md:hidden">
        {lastFailure === null ? '–' : <Time at={lastFailure} />}
      </div>
    </div>
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
