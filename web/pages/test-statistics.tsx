/** How a test did over time. Dragging over the chart chooses the window. */
import { useQueries } from '@tanstack/react-query';
import { type Stat, statQuery, type TestPath, type TimeWindow } from '../api/queries.ts';
import { Chart } from '../ui/chart.tsx';
import { formatCount, formatSeconds } from '../ui/format.ts';
import { Failed, Loading } from '../ui/states.tsx';

const STATS = ['success_count', 'failure_count', 'flaky_count', 'mean_duration'] as const satisfies readonly Stat[];

interface StatisticsProps {
  path: TestPath;
  window: TimeWindow;
  onWindow: (window: { from: string; to: string }) => void;
}

export function Statistics({ path, window, onWindow }: StatisticsProps) {
  const found = useQueries({ queries: STATS.map((stat) => statQuery(path, stat, window)) });
  const error = found.find((one) => one.error)?.error;
  const [passed, failed, flaky, duration] = found.map(({ data }) => data);
  return (
    <section aria-label="Statistics" className="card">
      <h2 className="border-b border-line px-4 py-2 font-semibold">Results</h2>
      {error ? (
        <Failed error={error} />
      ) : passed && failed && flaky && duration ? (
        <>
          <dl className="grid grid-cols-2 gap-4 px-4 pt-3 sm:grid-cols-4">
            <Total name="Passed" value={formatCount(passed.value)} colour="text-healthy" />
            <Total name="Failed" value={formatCount(failed.value)} colour="text-broken" />
            <Total name="Flaky" value={formatCount(flaky.value)} colour="text-flaky" />
            <Total name="Mean duration" value={formatSeconds(duration.value)} />
          </dl>
          <Chart
            label={`Passed and failed executions: ${passed.value} passed, ${failed.value} failed, ${flaky.value} flaky`}
            starts={passed.value_over_time.map(({ start }) => Date.parse(start) / 1_000)}
            end={Date.parse(passed.value_over_time.at(-1)?.end ?? window.end) / 1_000}
            bars={[
              { label: 'Passed', colour: '--color-healthy', values: valuesOf(passed) },
              { label: 'Failed', colour: '--color-broken', values: valuesOf(failed) },
            ]}
            line={{ label: 'Mean duration', colour: '--color-link', values: valuesOf(duration), format: formatSeconds }}
            onSelect={(start, end) =>
              onWindow({ from: new Date(start * 1_000).toISOString(), to: new Date(end * 1_000).toISOString() })
            }
          />
          <p className="px-4 pb-3 text-xs text-soft max-sm:hidden">Drag over the chart to look at a part of it.</p>
        </>
      ) : (
        <Loading rows={8} />
      )}
    </section>
  );
}

const valuesOf = ({ value_over_time: series }: { value_over_time: { value: number }[] }): number[] =>
  series.map(({ value }) => value);

const Total = ({ name, value, colour = '' }: { name: string; value: string; colour?: string }) => (
  <div>
    <dt className="text-xs text-soft">{name}</dt>
    <dd className={`text-lg font-semibold tabular-nums ${colour}`}>{value}</dd>
  </div>
);
