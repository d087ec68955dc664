/** The tests of a repository: found while one types, and as many rows as there are. */
import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useCallback } from 'react';
import { searchQuery } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { patternOf } from '../ui/search-text.ts';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { useTitle } from '../ui/title.ts';
import { FirstReport } from './first-report.tsx';
import { TestRows } from './test-rows.tsx';

const route = getRouteApi('/signed/$owner/$repository/tests');

const SORTS = [
  [undefined, 'Most executions'],
  ['test_name', 'By name'],
  ['pipeline_name', 'By pipeline'],
  ['job_name', 'By job'],
] as const;

export function Tests() {
  const path = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  useTitle(`Tests of ${path.owner}/${path.repository}`);
  const { q = '', pipeline, job, sort, direction } = search;
  const found = useInfiniteQuery({
    ...searchQuery(path, {
      test_name: patternOf(q),
      pipeline_name: pipeline,
      job_name: job,
      sort,
      direction,
    }),
    placeholderData: (before) => before,
    // Waits for the first report.
    refetchInterval: ({ state }) => (q === '' && state.data?.pages[0]?.body.size === 0 ? 3_000 : false),
  });
  const change = useCallback(
    (changes: Partial<typeof search>) =>
      void navigate({ search: (before) => ({ ...before, ...changes }), replace: true }),
    [navigate],
  );
  const onSearch = useCallback((text: string) => change({ q: text === '' ? undefined : text }), [change]);
  const tests = found.data?.pages.flatMap(({ body }) => body.tests) ?? [];
  const isFiltered = q !== '' || pipeline !== undefined || job !== undefined;

  if (found.isSuccess && tests.length === 0 && !isFiltered && !found.isPlaceholderData)
    return <FirstReport {...path} />;
  return (
    <>
      <h1 className="sr-only">Tests</h1>
      <div className="mb-3 flex flex-wrap items-center gap-2">
        <SearchField label="Find tests" placeholder="Find tests; * and ? are wildcards" value={q} onSearch={onSearch} />
        <Choice label="Sorted by" value={sort} options={SORTS} onChoose={(chosen) => change({ sort: chosen })} />
        {pipeline !== undefined && (
          <Chip label={`pipeline ${pipeline}`} onRemove={() => change({ pipeline: undefined })} />
        )}
        {job !== undefined && <Chip label={`job ${job}`} onRemove={() => change({ job: undefined })} />}
      </div>
      <div className="card">
        {found.isPending && <Loading rows={12} />}
        {found.error && <Failed error={found.error} reset={() => void found.refetch()} />}
        {found.isSuccess && tests.length === 0 && (
          <Empty title="No test matches">
            <p>
              Names are compared with their case. Search for a part of a name, or use <code>*</code> and <code>?</code>{' '}
              as wildcards for a whole one.
            </p>
          </Empty>
        )}
        {tests.length > 0 && (
          <TestRows
            path={path}
            tests={tests}
            isStale={found.isPlaceholderData}
            hasMore={found.hasNextPage}
            onMore={() => {
              if (!found.isFetchingNextPage) void found.fetchNextPage();
            }}
            onFilter={change}
          />
        )}
      </div>
    </>
  );
}

const Chip = ({ label, onRemove }: { label: string; onRemove: () => void }) => (
  <button type="button" className="button h-7 rounded-full text-xs" onClick={onRemove} aria-label={`Remove ${label}`}>
    {label} <span aria-hidden="true">✕</span>
  </button>
);
