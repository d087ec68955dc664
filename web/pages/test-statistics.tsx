/** How a test did over time. Dragging over the chart chooses the window. */
import { useQueries } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { TestStatistic } from '../../src/insights/stats.ts';
import { statQuery, TEST_STATS, type TestPath, type TimeWindow } from '../api/queries.ts';
import { Chart } from '../ui/chart.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { Section } from '../ui/section.tsx';
import { Failed, Loading } from '../ui/states.tsx';
import { UTC_HINT } from '../ui/utc.ts';

interface StatisticsProps {
  path: TestPath;
  window: TimeWindow;
  onWindow: (window: { from: string; to: string }) => void;
}

export function Statistics({ path, window, onWindow }: StatisticsProps) {
  const found = useQueries({ queries: TEST_STATS.map((stat) => statQuery(path, stat, window)) });
  const error = found.find((one) => one.error)?.error;
  const [passed, failed, flaky, duration] = found.map(({ data }) => data);
  return (
    <Section
      title="Results"
      aside={
        <Link to="/$owner/$repository/tests/$testId/history" params={path}>
          each execution
        </Link>
      }
    >
      {error ? (
        <Failed error={error} reset={() => found.forEach((one) => void one.refetch())} />
      ) : passed && failed && flaky && duration ? (
        <>
          <dl className="grid grid-cols-2 gap-4 px-4 pt-3 sm:grid-cols-4">
            <Total name="Passed" value={formatCount(passed.value)} colour="text-healthy" />
            <Total name="Failed" value={formatCount(failed.value)} colour="text-broken" />
            <Total name="Of these, flaky" value={formatCount(flaky.value)} colour="text-flaky" />
            <Total name="Mean duration" value={formatSeconds(duration.value)} />
          </dl>
          <div className="px-4 pt-4">
            <Chart
              label={`Executions: ${formatCount(passed.value)} passed, ${formatCount(failed.value)} failed; ${formatCount(flaky.value)} of these flaky`}
              starts={passed.value_over_time.map(({ start }) => Date.parse(start))}
              end={Date.parse(passed.value_over_time.at(-1)?.end ?? window.end)}
              bars={[
                { name: 'Passed', colour: 'text-healthy', values: valuesOf(passed) },
                { name: 'Failed', colour: 'text-broken', isHatched: true, values: valuesOf(failed) },
              ]}
              among={{ name: 'Of these, flaky', colour: 'text-flaky', values: valuesOf(flaky) }}
              line={{ name: 'Mean duration', colour: 'text-link', values: valuesOf(duration), format: formatSeconds }}
              size="high"
              onSelect={(start, end) => onWindow({ from: isoOf(start), to: isoOf(end) })}
            />
          </div>
          <p className="px-4 pt-2 pb-3 text-xs text-soft">
            {UTC_HINT} To look at a part of it, drag over the chart, or hold Shift with the arrow keys and press Enter.
          </p>
        </>
      ) : (
        <Loading rows={10} />
      )}
    </Section>
  );
}

const valuesOf = ({ value_over_time: series }: TestStatistic): number[] => series.map(({ value }) => value);
const isoOf = (at: number): string => new Date(at).toISOString();

const Total = ({ name, value, colour = '' }: { name: string; value: string; colour?: string }) => (
  <div>
    <dt className="text-xs text-soft">{name}</dt>
    <dd className={`text-lg font-semibold tabular-nums ${colour}`}>{value}</dd>
  </div>
);
