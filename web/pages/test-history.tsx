/** Every execution of a test, on any branch. A failure opens with its stack, beside another one if one compares them. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback } from 'react';
import type { TestDetails } from '../../src/insights/details.ts';
import type { TestHistory } from '../../src/insights/history.ts';
import { detailsQuery, historyQuery, type TestPath } from '../api/queries.ts';
import { historyView } from '../api/views.ts';
import { Choice } from '../ui/choice.tsx';
import { Commit } from '../ui/commit.tsx';
import { formatSeconds } from '../ui/format.ts';
import { legWords } from '../ui/leg-words.ts';
import { PagedList } from '../ui/paged-list.tsx';
import { Pull } from '../ui/pull.tsx';
import { SearchField } from '../ui/search-field.tsx';
import { Empty } from '../ui/states.tsx';
import { Time } from '../ui/time.tsx';
import { useTitle } from '../ui/title.ts';
import { FailurePanel } from './failure-panel.tsx';

const route = getRouteApi('/signed/$owner/$repository/tests/$testId/history');
type Execution = TestHistory['executions'][number];

const RESULTS = [
  [undefined, 'Every result'],
  ['attempts', 'Failed attempts'],
  ['failed', 'Failed'],
  ['passed', 'Passed'],
  ['skipped', 'Skipped'],
] as const;
const DAYS = [
  ['7', 'Last 7 days'],
  [undefined, 'Last 30 days'],
  ['90', 'Last 90 days'],
] as const;

export function History() {
  const path = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const { data: test } = useQuery(detailsQuery(path));
  useTitle(test ? `Executions of ${test.test_name}` : 'Executions');
  const found = useInfiniteQuery({
    ...historyQuery(path, historyView(search, Date.now())),
    placeholderData: (before) => before,
  });
  const executions = found.data?.pages.flatMap(({ body }) => body.executions) ?? [];
  const isFiltered = ['result', 'branch', 'pull', 'leg'].some((name) => name in search);
  const onText = useCallback(
    (name: 'branch' | 'pull', text: string) =>
      void navigate({ search: (before) => ({ ...before, [name]: text === '' ? undefined : text }), replace: true }),
    [navigate],
  );
  const onBranch = useCallback((text: string) => onText('branch', text), [onText]);
  const onPull = useCallback((text: string) => onText('pull', text.replace(/^\s*#?/, '').trim()), [onText]);
  return (
    <div className="flex flex-col gap-4">
      <header>
        <Link to="/$owner/$repository/tests/$testId" params={path} className="text-xs">
          ← The test
        </Link>
        <h1 className="mt-1 min-w-0 text-lg font-semibold break-words">
          {test?.test_name ?? 'Executions'}
          {test && <span className="sr-only">: executions</span>}
        </h1>
      </header>
      {search.at !== undefined && (
        <FailurePanel
          path={path}
          at={search.at}
          beside={search.beside}
          reproduce={test?.reproduce ?? null}
          failures={executions.filter(({ failure }) => failure !== null)}
          onShow={(at, beside) => void navigate({ search: (before) => ({ ...before, at, beside }), replace: true })}
        />
      )}
      <div className="flex flex-wrap gap-2">
        <SearchField
          label="Branch"
          placeholder="Branch, its whole name"
          value={search.branch ?? ''}
          onSearch={onBranch}
        />
        <SearchField
          label="Pull request"
          placeholder="Pull request, its number"
          value={search.pull ?? ''}
          onSearch={onPull}
          hasKey={false}
        />
        <Choice
          label="Result"
          value={search.result}
          options={RESULTS}
          onChoose={(result) => void navigate({ search: (before) => ({ ...before, result }), replace: true })}
        />
        <Choice
          label="Leg"
          value={search.leg}
          options={legOptions(test, search.leg)}
          onChoose={(leg) => void navigate({ search: (before) => ({ ...before, leg }), replace: true })}
        />
        <Choice
          label="Time"
          value={search.days}
          options={DAYS}
          onChoose={(days) => void navigate({ search: (before) => ({ ...before, days }), replace: true })}
        />
      </div>
      <div className="card overflow-hidden">
        <PagedList
          found={found}
          rows={executions}
          older="Older executions"
          empty={
            <Empty title={isFiltered ? 'No execution matches' : 'It did not run in this time'}>
              <p>Executions on every branch are here, skipped ones included.</p>
            </Empty>
          }
        >
          {(execution) => (
            <Row
              key={execution.execution_id}
              path={path}
              execution={execution}
              isOpen={execution.execution_id === search.at}
              isBeside={execution.execution_id === search.beside}
              canCompare={search.at !== undefined}
            />
          )}
        </PagedList>
      </div>
    </div>
  );
}

/** Legs of its CI jobs, each as the address has it. */
function legOptions(test: TestDetails | undefined, chosen: string | undefined) {
  const legs = (test?.legs ?? []).map(({ pipeline_name: pipeline, job_name: job, axes }) => {
    const value = JSON.stringify([pipeline, job, axes]);
    return [value, `${pipeline} › ${legWords(job, axes)}`] as const;
  });
  const isListed = chosen === undefined || legs.some(([value]) => value === chosen);
  return [[undefined, 'Every leg'] as const, ...(isListed ? [] : [[chosen, 'The chosen leg'] as const]), ...legs];
}

const LOOKS: Record<Execution['status'], { sign: string; colour: string }> = {
  passed: { sign: '✓', colour: 'text-healthy' },
  failed: { sign: '✕', colour: 'text-broken' },
  skipped: { sign: '–', colour: 'text-soft' },
};

interface RowProps {
  path: TestPath;
  execution: Execution;
  isOpen: boolean;
  isBeside: boolean;
  canCompare: boolean;
}

function Row({ path, execution, isOpen, isBeside, canCompare }: RowProps) {
  const { sign, colour } = LOOKS[execution.status];
  const word = execution.is_flaky && execution.status === 'passed' ? 'passed, flaky' : execution.status;
  const { failure, pull_request: pull, commit_sha: commit } = execution;
  return (
    <li
      className={`grid grid-cols-[minmax(0,1fr)_auto] items-baseline gap-x-4 gap-y-1 border-b border-line px-4 py-2 last:border-0 lg:grid-cols-[7rem_minmax(0,14rem)_minmax(0,12rem)_minmax(0,1fr)_9rem] ${isOpen || isBeside ? 'bg-raised' : 'hover:bg-raised'}`}
    >
      <span className={`font-medium ${colour}`}>
        <span aria-hidden="true">{sign}</span> {word}
      </span>
      <span className="min-w-0 max-lg:order-last max-lg:col-span-2">
        <span className="block break-words">{execution.branch ?? 'no branch'}</span>
        <span className="flex flex-wrap items-baseline gap-x-2 text-xs text-soft">
          {pull !== null && <Pull path={path} number={pull} />}
          {commit !== null && <Commit path={path} commit={commit} />}
          {execution.author !== null && <span>by {execution.author}</span>}
        </span>
      </span>
      <span className="min-w-0 text-soft max-lg:order-last max-lg:col-span-2">
        <span className="block break-words">{legWords(execution.job_name, execution.axes)}</span>
        <span className="text-xs">
          {formatSeconds(execution.duration_seconds)}
          {execution.run_attempt > 1 && `, attempt ${execution.run_attempt}`}
          {execution.run !== null && (
            <>
              {' · '}
              <Link
                to="/$owner/$repository/runs/$run"
                params={{ owner: path.owner, repository: path.repository, run: execution.run }}
                className="-my-1 inline-block min-w-6 py-1 underline"
              >
                run
              </Link>
            </>
          )}
        </span>
      </span>
      <span className="min-w-0 max-lg:order-last max-lg:col-span-2">
        {failure !== null && (
          <>
            <Link
              from="/$owner/$repository/tests/$testId/history"
              to="."
              search={(before) => ({ ...before, at: execution.execution_id, beside: undefined })}
              aria-current={isOpen ? 'true' : undefined}
              className="line-clamp-2 break-words"
            >
              {failure.exception_type}: {failure.exception_message}
            </Link>
            {canCompare && !isOpen && (
              <Link
                from="/$owner/$repository/tests/$testId/history"
                to="."
                search={(before) => ({ ...before, beside: isBeside ? undefined : execution.execution_id })}
                className="inline-block py-1 text-xs"
              >
                {isBeside ? 'Do not compare' : 'Compare'}
              </Link>
            )}
          </>
        )}
      </span>
      <span className="text-right text-soft">
        <Time at={execution.finished_at} />
      </span>
    </li>
  );
}
