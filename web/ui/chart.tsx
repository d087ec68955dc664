/**
 * Stacked bars over time with a line on an axis of its own, by uPlot. Dragging over it selects a range. Days and times are
 * UTC, as the bars are.
 */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';
import { formatCount } from './format.ts';
import { onScheme } from './scheme.ts';
import { formatUtcSpan, formatUtcTick } from './utc.ts';

interface Series {
  label: string;
  /** A custom property with the colour. */
  colour: string;
  values: readonly number[];
}

export interface ChartData {
  /** Where each bar begins, in seconds. */
  starts: readonly number[];
  /** Where the last bar ends, in seconds. */
  end: number;
  /** From the bottom to the top. */
  bars: readonly Series[];
  /** How many of all bars together are so: a narrow bar in front of them. */
  among: Series;
  line: Series & { format: (value: number) => string };
}

interface ChartProps {
  /** Read out by screen readers. */
  label: string;
  /** The same object as long as it says the same: another one is drawn again. */
  data: ChartData;
  /** Seconds. */
  onSelect: (start: number, end: number) => void;
}

const HEIGHT_PX = 220;
/** Below the chart: what the colours mean, and the values under the pointer. */
const LEGEND_PX = 40;
/** A click is not a selection. */
const SELECTION_PX_MIN = 6;
const DAY_SECONDS = 86_400;

export function Chart({ label, data, onSelect }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const select = useRef(onSelect);
  useEffect(() => {
    select.current = onSelect;
  });
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const draw = () => new uPlot(optionsOf(data, element, select), dataOf(data), element);
    let plot = draw();
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    const sizes = new ResizeObserver(() => plot.setSize({ width: widthIn(element), height: HEIGHT_PX }));
    sizes.observe(element);
    const forget = onScheme(redraw);
    return () => {
      forget();
      sizes.disconnect();
      plot.destroy();
    };
  }, [data]);
  return (
    <div
      ref={place}
      role="img"
      aria-label={label}
      className="overflow-hidden px-2 pt-2"
      style={{ minHeight: HEIGHT_PX + LEGEND_PX }}
    />
  );
}

/** Without its padding. */
const widthIn = (element: Element): number => element.clientWidth - 16;

/** Bars are drawn one over the other, the whole first, so each has the sum of those below it. */
function dataOf({ starts, bars, among, line }: ChartData): uPlot.AlignedData {
  const stacked = bars.map((_, top) =>
    starts.map((_start, i) => bars.slice(0, top + 1).reduce((sum, { values }) => sum + (values[i] ?? 0), 0)),
  );
  // No result, no duration.
  const gaps = line.values.map((value) => (value === 0 ? null : value));
  return [[...starts], ...stacked.reverse(), [...among.values], gaps];
}

function optionsOf(
  { starts, end, bars, among, line }: ChartData,
  element: Element,
  select: { readonly current: ChartProps['onSelect'] },
): uPlot.Options {
  const style = getComputedStyle(element);
  const colourOf = (name: string): string => resolved(element, style.getPropertyValue(name));
  const [ink, grid] = [colourOf('--color-soft'), colourOf('--color-line')];
  const [start = 0, second = end] = starts;
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const paths = uPlot.paths.bars?.({ align: 1, size: [0.86], radius: 0.1 });
  const narrow = uPlot.paths.bars?.({ align: 1, size: [0.3] });
  return {
    width: widthIn(element),
    height: HEIGHT_PX,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1_000), 'UTC'),
    scales: {
      x: { range: [start, end] },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
      line: { range: (_, __, max) => [0, Math.max(max * 1.2, 0.001)] },
    },
    axes: [
      {
        ...axis,
        values: (_, ticks, __, ___, step) => ticks.map((at) => formatUtcTick(at * 1_000, step >= DAY_SECONDS)),
      },
      {
        ...axis,
        size: 52,
        incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 100_000, 1_000_000],
        values: (_, ticks) => ticks.map(formatCount),
      },
      {
        ...axis,
        scale: 'line',
        side: 1,
        size: 60,
        grid: { show: false },
        values: (_, ticks) => ticks.map(line.format),
      },
    ],
    series: [
      { label: 'When', value: (_, at) => (at === null ? '' : spanOf(at, second - start)) },
      ...[...bars].reverse().map(({ label, colour, values }) => ({
        label,
        fill: colourOf(colour),
        width: 0,
        points: { show: false },
        ...(paths && { paths }),
        value: (_: uPlot, __: number, ___: number, i: number | null) => (i === null ? '' : formatCount(values[i] ?? 0)),
      })),
      {
        label: among.label,
        fill: colourOf(among.colour),
        width: 0,
        points: { show: false },
        ...(narrow && { paths: narrow }),
        value: (_, value) => (value === null ? '' : formatCount(value)),
      },
      {
        label: line.label,
        scale: 'line',
        stroke: colourOf(line.colour),
        width: 1.5,
        spanGaps: true,
        points: { show: true, size: 4 },
        value: (_, value) => (value === null ? '' : line.format(value)),
      },
    ],
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < SELECTION_PX_MIN) return;
          // Whole bars.
          const bar = second - start;
          const first = Math.floor((plot.posToVal(left, 'x') - start) / bar);
          const last = Math.ceil((plot.posToVal(left + width, 'x') - start) / bar);
          select.current(start + first * bar, Math.min(end, start + last * bar));
        },
      ],
    },
  };
}

/** The time that a bar covers; seconds. */
const spanOf = (at: number, width: number): string => formatUtcSpan(at * 1_000, (at + width) * 1_000);

/** A canvas knows no `light-dark()`. */
function resolved(element: Element, colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
