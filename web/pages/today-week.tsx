/** This week beside the last one: failed executions, and how many tests are flaky and broken. */
import { useInfiniteQuery, useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import type { RepositoryStatistics } from '../../src/insights/repository-stats.ts';
import { type RepositoryPath, repositoryStatQuery, TODAY_STATS } from '../api/queries.ts';
import { testsViewQuery } from '../api/views.ts';
import { formatCount } from '../ui/format.ts';
import { Sparkline } from '../ui/sparkline.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { formatUtcDay } from '../ui/utc.ts';

const WEEK_DAYS = 7;
const REFETCH_MS = 60_000;

interface WeekProps {
  path: RepositoryPath;
  /** Shown instead of everything if the default branch has no tests yet. */
  empty: ReactNode;
  children: ReactNode;
}

export function Week({ path, empty, children }: WeekProps) {
  const found = useQueries({
    queries: TODAY_STATS.map((stat) => ({ ...repositoryStatQuery(path, stat), refetchInterval: REFETCH_MS })),
  });
  const error = found.find((one) => one.error && !one.data)?.error;
  // A repository that has rested for two weeks is not a new one.
  const isQuiet = found[0]?.data?.value_over_time.every(({ value }) => value === 0) ?? false;
  const search = useInfiniteQuery({
    ...testsViewQuery(path, {}),
    enabled: isQuiet,
    // Waits for the first report.
    refetchInterval: ({ state }) => (state.data?.pages[0]?.body.size === 0 ? 3_000 : false),
  });
  if (error) return <Failed error={error} reset={() => found.forEach((one) => void one.refetch())} />;
  const [tests, failures, flaky, broken] = found.map(({ data }) => data);
  if (!tests || !failures || !flaky || !broken) return <Loading rows={12} />;
  if (isQuiet && search.isPending) return <Loading rows={12} />;
  if (isQuiet && search.data?.pages[0]?.body.size === 0) return empty;
  const [thisWeek, lastWeek] = weeksOf(failures);
  return (
    <div className="flex flex-col gap-5">
      <dl aria-label="This week" className="grid grid-cols-2 gap-3 lg:grid-cols-4">
        <Figure
          name="Failed executions in 7 days"
          value={thisWeek}
          before={`${formatCount(lastWeek)} in the 7 days before`}
          isWorse={thisWeek > lastWeek}
          series={failures}
          colour="text-broken"
        />
        <Level name="Broken tests" stat={broken} colour="text-broken">
          <Link to="/$owner/$repository/tests" params={path} search={{ health: 'broken' }} className="underline">
            Show
          </Link>
        </Level>
        <Level name="Flaky tests" stat={flaky} colour="text-flaky">
          <Link to="/$owner/$repository/tests" params={path} search={{ health: 'flaky' }} className="underline">
            Show
          </Link>
        </Level>
        <Level name="Tests" stat={tests} colour="text-soft">
          <Link to="/$owner/$repository/tests" params={path} className="underline">
            Show
          </Link>
        </Level>
      </dl>
      {children}
    </div>
  );
}

/** How much a count of each day comes to in the last seven days, and in the seven before. */
function weeksOf({ value_over_time: days }: Pick<RepositoryStatistics, 'value_over_time'>): [number, number] {
  const values = days.map(({ value }) => value);
  const sum = (some: readonly number[]): number => some.reduce((all, one) => all + one, 0);
  return [sum(values.slice(-WEEK_DAYS)), sum(values.slice(-2 * WEEK_DAYS, -WEEK_DAYS))];
}

interface LevelProps {
  name: string;
  stat: RepositoryStatistics;
  colour: string;
  children: ReactNode;
}

/** What is so now, and a week ago. */
function Level({ name, stat, colour, children }: LevelProps) {
  const before = stat.value_over_time.at(-1 - WEEK_DAYS)?.value ?? 0;
  return (
    <Figure
      name={name}
      value={stat.value}
      before={`${formatCount(before)} a week ago`}
      isWorse={false}
      series={stat}
      colour={colour}
    >
      {children}
    </Figure>
  );
}

interface FigureProps {
  name: string;
  value: number;
  before: string;
  isWorse: boolean;
  series: RepositoryStatistics;
  colour: string;
  children?: ReactNode;
}

const Figure = ({ name, value, before, isWorse, series, colour, children }: FigureProps) => (
  <div className="card min-w-0 px-4 py-3">
    <dt className="text-xs text-soft">{name}</dt>
    <dd className="flex items-end gap-3">
      <span className={`text-xl font-semibold tabular-nums ${value === 0 ? '' : colour}`}>{formatCount(value)}</span>
      <Sparkline
        bars={series.value_over_time.map(({ start, value: count }) => ({
          count,
          title: `${formatUtcDay(Date.parse(start))} (UTC): ${formatCount(count)}`,
        }))}
        label={`${name}, by day, over ${series.value_over_time.length} days`}
        className={`h-8 min-w-0 flex-1 ${colour}`}
      />
    </dd>
    <dd className="mt-1 flex justify-between gap-2 text-xs text-soft">
      <span className={isWorse ? 'text-broken' : ''}>{before}</span> {children}
    </dd>
  </div>
);
