/** The tests of a repository: found while one types, and as many rows as there are. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback, useMemo } from 'react';
import { testsViewQuery } from '../api/views.ts';
import { Choice } from '../ui/choice.tsx';
import { axisFilterInWords } from '../ui/leg-words.ts';
import { SearchField } from '../ui/search-field.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';
import { FirstReport } from './first-report.tsx';
import { TestRows } from './test-rows.tsx';

const route = getRouteApi('/signed/$owner/$repository/tests');

const SORTS = [
  [undefined, 'Worst first'],
  ['failed_executions_count', 'Most failures'],
  ['failed_executions_ratio', 'Highest share of failures'],
  ['last_failure_at', 'Newest failure'],
  ['executions_count', 'Most executions'],
  ['median_seconds', 'Slowest'],
  ['cost', 'Most red runs'],
  ['test_name', 'By name'],
] as const;
const HEALTHS = [
  [undefined, 'Every health'],
  ['broken', 'Broken'],
  ['flaky', 'Flaky'],
  ['calm', 'Flaky, but calm'],
  ['healthy', 'Healthy'],
] as const;
const QUARANTINED = [
  [undefined, 'All tests'],
  ['true', 'Quarantined'],
  ['false', 'Not quarantined'],
] as const;

export function Tests() {
  const path = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Tests of ${path.owner}/${path.repository}`);
  const { q = '', pipeline, job, axis, health, quarantined, ownedBy, unowned } = search;
  const found = useInfiniteQuery({
    ...testsViewQuery(path, search),
    placeholderData: (before) => before,
    // Coming back to the page does not ask for everything again that was scrolled over.
    refetchOnWindowFocus: ({ state }) => (state.data?.pages.length ?? 0) <= 1,
    // Waits for the first report.
    refetchInterval: ({ state }) => (state.data?.pages[0]?.body.size === 0 ? 3_000 : false),
  });
  const change = useCallback(
    (changes: Partial<typeof search>) =>
      void navigate({ search: (before) => ({ ...before, ...changes }), replace: true }),
    [navigate],
  );
  const onSearch = useCallback((text: string) => change({ q: text === '' ? undefined : text }), [change]);
  const tests = useMemo(() => found.data?.pages.flatMap(({ body }) => body.tests) ?? [], [found.data]);
  const isFiltered =
    [pipeline, job, axis, health, quarantined, ownedBy, unowned].some((one) => one !== undefined) || q !== '';
  const total = found.data?.pages[0]?.body.total;

  if (found.isSuccess && tests.length === 0 && !isFiltered && !found.isPlaceholderData)
    return <FirstReport {...path} />;
  return (
    <>
      <h1 className="sr-only">Tests</h1>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField label="Find tests" placeholder="Find tests; * and ? are wildcards" value={q} onSearch={onSearch} />
        <Choice label="Health" value={health} options={HEALTHS} onChoose={(chosen) => change({ health: chosen })} />
        <Choice
          label="Quarantine"
          value={quarantined}
          options={QUARANTINED}
          onChoose={(chosen) => change({ quarantined: chosen })}
        />
        {/* A phone shows few heads to sort by. */}
        <span className="contents md:hidden">
          <Choice
            label="Sorted by"
            value={search.sort}
            options={SORTS}
            onChoose={(chosen) => change({ sort: chosen, direction: undefined })}
          />
        </span>
        {ownedBy !== undefined && !unowned && (
          <Chip label={`owner ${ownedBy}`} onRemove={() => change({ ownedBy: undefined })} />
        )}
        {unowned && <Chip label="no owner" onRemove={() => change({ unowned: undefined })} />}
        {pipeline !== undefined && (
          <Chip label={`pipeline ${pipeline}`} onRemove={() => change({ pipeline: undefined })} />
        )}
        {axis !== undefined && <Chip label={axisFilterInWords(axis)} onRemove={() => change({ axis: undefined })} />}
        {job !== undefined && <Chip label={`job ${job}`} onRemove={() => change({ job: undefined })} />}
      </div>
      <div className="card">
        {found.isPending && <Loading rows={12} />}
        {found.error && !found.isFetchNextPageError && (
          <Failed error={found.error} reset={() => void found.refetch()} />
        )}
        {found.isSuccess && tests.length === 0 && (
          <Empty title="No test matches">
            <p>
              Names are compared with their case. Search for a part of a name, or use <code>*</code> and <code>?</code>{' '}
              as wildcards for a whole one. A test is listed once it has run on the default branch; until then, the page
              of its pull request shows it if it fails.
            </p>
          </Empty>
        )}
        {tests.length > 0 && (
          <TestRows
            path={path}
            tests={tests}
            total={total ?? tests.length}
            isStale={found.isPlaceholderData}
            hasMore={found.hasNextPage && !found.isFetchNextPageError}
            onMore={() => {
              if (!found.isFetchingNextPage) void found.fetchNextPage();
            }}
            onFilter={change}
          />
        )}
        {found.isFetchNextPageError && <Failed error={found.error} reset={() => void found.fetchNextPage()} />}
      </div>
    </>
  );
}

const Chip = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <button type="button" className="button h-7 rounded-full text-xs" onClick={onRemove} aria-label={`Remove ${label}`}>
    {label} <span aria-hidden="true">✕</span>
  </button>
);
