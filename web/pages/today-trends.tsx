/** The last 90 days, day by day: red runs by reason, time lost, broken and flaky tests; this week beside the last. */
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { RedRunsByDay } from '../../src/insights/red-runs-by-day.ts';
import { type RepositoryPath, redRunsByDayQuery, unhealthyByDayQuery } from '../api/queries.ts';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { useDaysUpToNow } from '../ui/long-window.ts';
import { Section } from '../ui/section.tsx';
import { Sparkline } from '../ui/sparkline.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { formatUtcDay } from '../ui/utc.ts';

const WEEK_DAYS = 7;
const REFETCH_MS = 60_000;

interface Trend {
  name: string;
  colour: string;
  /** By day, the oldest first. */
  values: readonly number[];
  format: (value: number) => string;
  /** A level is as it is now; the others add up over a week. */
  isLevel?: boolean;
}

const REASONS: readonly (readonly [keyof RedRunsByDay['total']['by_reason'], string, string])[] = [
  ['flaky', 'Red by a flaky test', 'text-flaky'],
  ['broken', 'Red by a broken test', 'text-broken'],
  ['change', 'Red by the change itself', 'text-link'],
  ['infrastructure', 'Red by infrastructure', 'text-soft'],
];

export function Trends({ path }: { path: RepositoryPath }) {
  const window = useDaysUpToNow('90');
  const red = useQuery({ ...redRunsByDayQuery(path, { ...window }), refetchInterval: REFETCH_MS });
  const unhealthy = useQuery({ ...unhealthyByDayQuery(path), refetchInterval: REFETCH_MS });
  const error = red.error ?? unhealthy.error;
  const starts = unhealthy.data?.days.map(({ start }) => Date.parse(start)) ?? [];
  const trends: Trend[] =
    red.data && unhealthy.data
      ? [
          ...REASONS.map(([reason, name, colour]) => ({
            name,
            colour,
            values: red.data.days.map(({ by_reason: by }) => by[reason]),
            format: formatCount,
          })),
          {
            name: 'Time lost to red runs',
            colour: 'text-link',
            values: red.data.days.map(({ minutes_lost: minutes }) => minutes),
            format: formatMinutes,
          },
          {
            name: 'Broken tests',
            colour: 'text-broken',
            values: unhealthy.data.days.map(({ broken_tests: broken }) => broken),
            format: formatCount,
            isLevel: true,
          },
          {
            name: 'Flaky tests',
            colour: 'text-flaky',
            values: unhealthy.data.days.map(({ flaky_tests: flaky }) => flaky),
            format: formatCount,
            isLevel: true,
          },
          {
            name: 'Tests that recovered or were fixed',
            colour: 'text-healthy',
            values: unhealthy.data.days.map(({ turns }) => (turns.recovered ?? 0) + (turns.fixed ?? 0)),
            format: formatCount,
          },
        ]
      : [];
  return (
    <Section
      title="The last 90 days"
      aside={
        <Link to="/$owner/$repository/cost" params={path} search={{ days: '90' }} className="text-xs underline">
          What it cost
        </Link>
      }
    >
      {error && <Failed error={error} reset={() => void Promise.all([red.refetch(), unhealthy.refetch()])} />}
      {!error && trends.length === 0 && <Loading rows={5} />}
      {trends.length > 0 && (
        <ul className="grid gap-x-8 gap-y-4 px-4 py-3 sm:grid-cols-2 lg:grid-cols-4">
          {trends.map((trend) => (
            <li key={trend.name} className="min-w-0">
              <Figure trend={trend} starts={starts} />
            </li>
          ))}
        </ul>
      )}
    </Section>
  );
}

const formatMinutes = (minutes: number): string => (minutes === 0 ? '0' : formatSeconds(minutes * 60));
const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

function Figure({ trend, starts }: { trend: Trend; starts: readonly number[] }) {
  const { name, colour, values, format, isLevel = false } = trend;
  const now = isLevel ? (values.at(-1) ?? 0) : sum(values.slice(-WEEK_DAYS));
  const before = isLevel ? (values.at(-1 - WEEK_DAYS) ?? 0) : sum(values.slice(-2 * WEEK_DAYS, -WEEK_DAYS));
  return (
    <>
      <p className="text-xs text-soft">{name}</p>
      <p>
        <span className={`font-semibold tabular-nums ${now === 0 ? '' : colour}`}>{format(now)}</span>{' '}
        <span className="text-xs text-soft">
          {isLevel ? 'now' : 'this week'}, {format(before)} {isLevel ? 'a week ago' : 'before'}
        </span>
      </p>
      <Sparkline
        label={`${name}, by day, over ${values.length} days`}
        className={`mt-1 h-10 w-full ${colour}`}
        bars={values.map((count, i) => ({
          count,
          title: `${formatUtcDay(starts[i] ?? 0)} (UTC): ${format(count)}`,
        }))}
      />
    </>
  );
}
