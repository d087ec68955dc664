/** What red runs cost: why runs were red, the time that was lost, and whose cost it is. */
import { useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useMemo } from 'react';
import type { Costs } from '../../src/insights/cost.ts';
import type { RedRunsByDay } from '../../src/insights/red-runs-by-day.ts';
import { costQuery, type RepositoryPath, redRunsByDayQuery } from '../api/queries.ts';
import { Choice } from '../ui/choice.tsx';
import { formatCount, formatCounted, formatSeconds, formatShares } from '../ui/format.ts';
import { useDaysUpToNow } from '../ui/long-window.ts';
import { Section } from '../ui/section.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Empty, Failed, Loading } from '../ui/states.tsx';
import { type Column, Table } from '../ui/table.tsx';
import { TestName } from '../ui/test-name.tsx';
import { useTitle } from '../ui/title.ts';
import { formatUtcDay } from '../ui/utc.ts';
import { WindowBar } from './window-bar.tsx';

const route = getRouteApi('/signed/$owner/$repository/cost');
type TestCost = Costs['tests'][number];
type OwnerCost = Costs['owners'][number];
type CauseCost = Costs['causes'][number];
type Reason = keyof RedRunsByDay['total']['by_reason'];

const TITLES = { test: 'By test', cause: 'By cause', owner: 'By owner' } as const;
const REASONS: readonly (readonly [Reason, string, string])[] = [
  ['flaky', 'a flaky test', 'text-flaky'],
  ['broken', 'a broken test', 'text-broken'],
  ['change', 'the change itself', 'text-accent'],
  ['infrastructure', 'infrastructure', 'text-soft'],
];

export function CostPage() {
  const path = route.useParams();
  const { days = '30', sort = 'red_runs', reason, by = 'test' } = route.useSearch();
  const navigate = route.useNavigate();
  const window = useDaysUpToNow(days);
  const red = useQuery(redRunsByDayQuery(path, { ...window }));
  const costs = useInfiniteQuery(costQuery(path, { ...window, sort, reason, by }));
  useTitle(`Cost of ${path.owner}/${path.repository}`);
  const change = (changes: Partial<ReturnType<typeof route.useSearch>>) =>
    void navigate({ search: (before) => ({ ...before, ...changes }), replace: true });
  const error = red.error ?? costs.error;
  const first = costs.data?.pages[0]?.body;
  return (
    <div className="flex flex-col gap-4">
      <h1 className="sr-only">Cost</h1>
      <WindowBar window={window} days={days} onDays={(chosen) => change({ days: chosen })} />
      {error && <Failed error={error} reset={() => void Promise.all([red.refetch(), costs.refetch()])} />}
      {!error && !(red.data && first) && <Loading rows={12} />}
      {!error && red.data && first && (
        <>
          <RedRunsByReason red={red.data} />
          <Section title={TITLES[by]}>
            <div className="flex flex-wrap items-center gap-3 border-b border-line px-4 py-2">
              <Choice
                label="Shared out among"
                value={by}
                options={[
                  ['test', 'Tests'],
                  ['cause', 'Causes'],
                  ['owner', 'Owners'],
                ]}
                onChoose={(chosen) => change({ by: chosen === 'test' ? undefined : chosen })}
              />
              <Choice
                label="Reason"
                value={reason}
                options={[
                  [undefined, by === 'cause' ? 'All but changes' : 'Flaky and broken tests'],
                  ['flaky', 'Flaky tests only'],
                  ['broken', 'Broken tests only'],
                  ['change', 'Wrong changes'],
                  ['infrastructure', 'Infrastructure'],
                ]}
                onChoose={(chosen) => change({ reason: chosen })}
              />
              <Total cost={first} />
            </div>
            {by === 'cause' ? (
              <Parts
                label="Cost by cause"
                parts={costs.data?.pages.flatMap(({ body }) => body.causes) ?? []}
                noun="cause"
                nameIn={causeColumn}
                keyOf={({ cause_id }) => cause_id ?? ''}
                hasMoney={first.total.money !== null}
              />
            ) : by === 'owner' ? (
              <Parts
                label="Cost by owner"
                parts={costs.data?.pages.flatMap(({ body }) => body.owners) ?? []}
                noun="owner"
                nameIn={ownerColumn}
                keyOf={({ owner }) => owner ?? ''}
                hasMoney={first.total.money !== null}
              />
            ) : (
              <Parts
                label="Cost by test"
                parts={costs.data?.pages.flatMap(({ body }) => body.tests) ?? []}
                noun="test"
                nameIn={testColumn}
                keyOf={({ test_id }) => test_id}
                hasMoney={first.total.money !== null}
              />
            )}
            {costs.hasNextPage && (
              <div className="flex justify-center border-t border-line p-3">
                <button
                  type="button"
                  className="button"
                  disabled={costs.isFetching}
                  onClick={() => void costs.fetchNextPage()}
                >
                  {costs.isFetchingNextPage ? 'Loading …' : `More ${by}s`}
                </button>
              </div>
            )}
          </Section>
        </>
      )}
    </div>
  );
}

function RedRunsByReason({ red: { total, days } }: { red: RedRunsByDay }) {
  const { innocent, own, unknown } = total.queue_departures;
  const left = innocent + own + unknown;
  return (
    <Section title="Red runs" aside={`${formatCounted(total.red_runs, 'red run')} of ${formatCount(total.runs)}`}>
      <ul className="grid gap-x-8 gap-y-2 px-4 py-3 sm:grid-cols-2 lg:grid-cols-4">
        {REASONS.map(([reason, words, colour]) => (
          <li key={reason} className="min-w-0">
            <span className="font-medium tabular-nums">{formatCount(total.by_reason[reason])}</span>{' '}
            <span className="text-soft">by {words}</span>
            <Sparkline
              label={`Red runs by ${words}, day by day`}
              className={`mt-1 h-8 w-full ${colour}`}
              bars={days.map(({ start, by_reason: by }) => ({
                count: by[reason],
                title: `${formatUtcDay(Date.parse(start))}: ${formatCount(by[reason])}`,
              }))}
            />
          </li>
        ))}
      </ul>
      <p className="border-t border-line px-4 py-2 text-soft">
        Lost: {formatSeconds(total.rerun_minutes * 60)} of CI in reruns, and {formatSeconds(total.waiting_minutes * 60)}{' '}
        in which authors waited, on {formatCounted(total.pull_requests, 'pull request')}.
        {total.outside > 0 && ` ${formatCounted(total.outside, 'run')} ran again although no test had failed.`}
        {left > 0 &&
          ` ${formatCounted(left, 'pull request')} left the merge queue unmerged: ${formatCount(innocent)} by no failure of the change, ${formatCount(own)} by one, ${formatCount(unknown)} for a reason that no run shows.`}
      </p>
    </Section>
  );
}

const Total = ({ cost: { total, total_tests: tests } }: { cost: Costs }) => (
  <span className="text-soft">
    {formatCounted(total.red_runs, 'red run')} shared out among {formatCounted(tests, 'test')}
    {total.money !== null && `; ${formatShares(total.money)} in money`}
  </span>
);

const testColumn = (path: RepositoryPath): Column<TestCost> => ({
  id: 'test',
  head: 'Test',
  isText: true,
  width: 'w-full max-w-0 min-w-48',
  value: ({ test_name: name }) => name,
  cell: ({ test_id: testId, test_name: name, owners }) => (
    <>
      <Link
        to="/$owner/$repository/tests/$testId"
        params={{ ...path, testId }}
        className="block min-h-6 overflow-hidden font-medium text-ink"
      >
        <TestName name={name ?? 'a test that never ran on the default branch'} />
      </Link>
      <span className="text-xs text-soft">{owners.length === 0 ? 'no owner' : owners.join(', ')}</span>
    </>
  ),
});

const ownerColumn = (path: RepositoryPath): Column<OwnerCost> => ({
  id: 'owner',
  head: 'Owner',
  isText: true,
  width: 'w-full max-w-0 min-w-48',
  value: ({ owner }) => owner,
  cell: ({ owner }) => (
    <Link
      to="/$owner/$repository/tests"
      params={path}
      search={owner === null ? { unowned: true } : { ownedBy: owner }}
      className="block min-h-6 font-medium break-words text-ink"
    >
      {owner ?? 'No owner'}
    </Link>
  ),
});

const causeColumn = (path: RepositoryPath): Column<CauseCost> => ({
  id: 'cause',
  head: 'Cause',
  isText: true,
  width: 'w-full max-w-0 min-w-48',
  value: ({ exception_type: type, exception_message: message }) => [type, message].filter(Boolean).join(': '),
  cell: ({ cause_id: cause, exception_type: type, exception_message: message }) =>
    cause === null ? (
      <span className="text-soft">No cause: nothing on the default branch failed like it</span>
    ) : (
      <Link to="/$owner/$repository/causes/$cause" params={{ ...path, cause }} className="block text-ink">
        <span className="block font-medium break-words">{message || type || 'No message'}</span>
        {message && type && <span className="block text-xs text-soft">{type}</span>}
      </Link>
    ),
});

interface PartsProps<Part> {
  label: string;
  noun: string;
  parts: readonly Part[];
  /** Makes the column that names a part. */
  nameIn: (path: RepositoryPath) => Column<Part>;
  keyOf: (part: Part) => string;
  hasMoney: boolean;
}

const FIRST = { id: 'red_runs', direction: 'desc' } as const;

function Parts<Part extends TestCost | OwnerCost | CauseCost>({
  label,
  noun,
  parts,
  nameIn,
  keyOf,
  hasMoney,
}: PartsProps<Part>) {
  const { owner, repository } = route.useParams();
  const columns = useMemo(
    () => columnsOf(nameIn({ owner, repository }), hasMoney),
    [nameIn, owner, repository, hasMoney],
  );
  if (parts.length === 0)
    return (
      <Empty title="No red run in this window">
        <p>Runs in which a test failed appear here, with what they cost.</p>
      </Empty>
    );
  return <Table label={label} noun={noun} columns={columns} rows={parts} keyOf={keyOf} first={FIRST} />;
}

/** Named as the service sorts by them. */
const columnsOf = <Part extends TestCost | OwnerCost | CauseCost>(
  name: Column<Part>,
  hasMoney: boolean,
): Column<Part>[] => [
  name,
  {
    id: 'red_runs',
    head: 'Red runs',
    hint: 'Shared out evenly among the tests that failed in each',
    sorts: ['desc'],
    value: (cost) => cost.red_runs,
    cell: (cost) => formatShares(cost.red_runs),
  },
  {
    id: 'red_runs_alone',
    head: 'Alone',
    hint: 'Red runs in which nothing else failed',
    sorts: ['desc'],
    value: (cost) => cost.red_runs_alone,
    cell: (cost) => formatCount(cost.red_runs_alone),
  },
  {
    id: 'pull_requests',
    head: 'Pull requests',
    hint: 'With such a run; not shared out',
    sorts: ['desc'],
    value: (cost) => cost.pull_requests,
    cell: (cost) => formatCount(cost.pull_requests),
  },
  {
    id: 'rerun_minutes',
    head: 'CI in reruns',
    hint: 'The attempts that followed, from their first to their last test',
    sorts: ['desc'],
    value: (cost) => cost.rerun_minutes,
    cell: (cost) => formatSeconds(cost.rerun_minutes * 60),
  },
  {
    id: 'waiting_hours',
    head: 'Waiting',
    hint: 'From a failure to the next green run, at most eight hours',
    sorts: ['desc'],
    value: (cost) => cost.waiting_hours,
    cell: (cost) => formatSeconds(cost.waiting_hours * 3_600),
  },
  {
    id: 'queue_departures',
    head: 'Queue',
    hint: 'Pull requests that left the merge queue because of it, by no failure of their change',
    sorts: ['desc'],
    value: (cost) => cost.queue_departures,
    cell: (cost) => formatShares(cost.queue_departures),
  },
  ...(hasMoney ? [{ id: 'money', head: 'Money', value: money, cell: (cost: Part) => formatShares(money(cost)) }] : []),
];

const money = (cost: TestCost | OwnerCost | CauseCost): number => cost.money ?? 0;
