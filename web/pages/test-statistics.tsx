/** How a test did over time. Dragging over the chart chooses the window. */
import { useQueries } from '@tanstack/react-query';
import { useMemo } from 'react';
import type { TestStatistic } from '../../src/insights/stats.ts';
import { statQuery, TEST_STATS, type TestPath, type TimeWindow } from '../api/queries.ts';
import { Chart, type ChartData } from '../ui/chart.tsx';
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
  const chart = useMemo(
    () => passed && failed && flaky && duration && chartOf(window, { passed, failed, flaky, duration }),
    [window, passed, failed, flaky, duration],
  );
  return (
    <Section title="Results">
      {error ? (
        <Failed error={error} reset={() => found.forEach((one) => void one.refetch())} />
      ) : passed && failed && flaky && duration && chart ? (
        <>
          <dl className="grid grid-cols-2 gap-4 px-4 pt-3 sm:grid-cols-4">
            <Total name="Passed" value={formatCount(passed.value)} colour="text-healthy" />
            <Total name="Failed" value={formatCount(failed.value)} colour="text-broken" />
            <Total name="Of these, flaky" value={formatCount(flaky.value)} colour="text-flaky" />
            <Total name="Mean duration" value={formatSeconds(duration.value)} />
          </dl>
          <Chart
            label={`Executions: ${formatCount(passed.value)} passed, ${formatCount(failed.value)} failed; ${formatCount(flaky.value)} of these flaky`}
            data={chart}
            onSelect={(start, end) => onWindow({ from: isoOf(start), to: isoOf(end) })}
          />
          <p className="px-4 pb-3 text-xs text-soft">
            {UTC_HINT} <span className="max-sm:hidden">Drag over the chart to look at a part of it.</span>
          </p>
        </>
      ) : (
        <Loading rows={10} />
      )}
    </Section>
  );
}

type Series = Record<'passed' | 'failed' | 'flaky' | 'duration', TestStatistic>;

function chartOf(window: TimeWindow, { passed, failed, flaky, duration }: Series): ChartData {
  const secondsOf = (at: string): number => Date.parse(at) / 1_000;
  const series = passed.value_over_time;
  return {
    starts: series.map(({ start }) => secondsOf(start)),
    end: secondsOf(series.at(-1)?.end ?? window.end),
    bars: [
      { label: 'Passed', colour: '--color-healthy', values: valuesOf(passed) },
      { label: 'Failed', colour: '--color-broken', values: valuesOf(failed) },
    ],
    among: { label: 'Of these, flaky', colour: '--color-flaky', values: valuesOf(flaky) },
    line: { label: 'Mean duration', colour: '--color-link', values: valuesOf(duration), format: formatSeconds },
  };
}

const valuesOf = ({ value_over_time: series }: TestStatistic): number[] => series.map(({ value }) => value);
const isoOf = (seconds: number): string => new Date(seconds * 1_000).toISOString();

const Total = ({ name, value, colour = '' }: { name: string; value: string; colour?: string }) => (
  <div>
    <dt className="text-xs text-soft">{name}</dt>
    <dd className={`text-lg font-semibold tabular-nums ${colour}`}>{value}</dd>
  </div>
);
