/** How a test did over time. Dragging over the chart chooses the window. */
import { useQueries } from '@tanstack/react-query';
import { type Stat, statQuery, type TestPath, type TimeWindow } from '../api/queries.ts';
import { Chart } from '../ui/chart.tsx';
import { formatCount, formatLocal, formatSeconds } from '../ui/format.ts';
import { Failed, Loading } from '../ui/states.tsx';

const STATS = ['success_count', 'failure_count', 'flaky_count', 'mean_duration'] as const satisfies readonly Stat[];
type Days = '1' | '7' | '30' | '90';
const PRESETS: readonly (readonly [Days, string])[] = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
];

interface StatisticsProps {
  path: TestPath;
  window: TimeWindow;
  /** Undefined: the window was dragged. */
  days: Days | undefined;
  onDays: (days: Days) => void;
  onWindow: (window: { from: string; to: string }) => void;
}

export function Statistics({ path, window, days, onDays, onWindow }: StatisticsProps) {
  const found = useQueries({ queries: STATS.map((stat) => statQuery(path, stat, window)) });
  const error = found.find((one) => one.error)?.error;
  const [passed, failed, flaky, duration] = found.map(({ data }) => data);
  return (
    <section aria-label="Statistics" className="card">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-4 py-2">
        <h2 className="font-semibold">Results</h2>
        <span className="text-xs text-soft">
          {formatLocal(window.start)} – {formatLocal(window.end)}
        </span>
        {/* biome-ignore lint/a11y/useSemanticElements: a fieldset would need a legend */}
        <div role="group" aria-label="Window" className="ml-auto flex gap-1">
          {PRESETS.map(([value, label]) => (
            <button
              key={value}
              type="button"
              aria-pressed={days === value}
              className="button h-7 px-2 text-xs aria-pressed:border-accent aria-pressed:bg-accent aria-pressed:text-white"
              onClick={() => onDays(value)}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
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
