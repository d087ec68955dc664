/** Stacked bars over time with a line on an axis of its own, by uPlot. Dragging over it selects a range. */
import { useEffect, useRef } from 'react';
import uPlot from 'uplot';

interface Series {
  label: string;
  /** A custom property with the colour. */
  colour: string;
  values: readonly number[];
}

interface ChartProps {
  /** What a screen reader says of it. */
  label: string;
  /** Where each bar begins, in seconds. */
  starts: readonly number[];
  /** Where the last bar ends, in seconds. */
  end: number;
  /** From the bottom to the top. */
  bars: readonly Series[];
  line?: (Series & { format: (value: number) => string }) | undefined;
  /** Seconds. */
  onSelect?: ((start: number, end: number) => void) | undefined;
}

const HEIGHT_PX = 220;
/** A click is not a selection. */
const SELECTION_PX_MIN = 6;

export function Chart({ label, starts, end, bars, line, onSelect }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const select = useRef(onSelect);
  select.current = onSelect;
  useEffect(() => {
    const element = place.current;
    if (!element) return;
    const draw = () => {
      const plot = new uPlot(
        optionsOf({ starts, end, bars, line, onSelect: (...range) => select.current?.(...range) }, element),
        dataOf(starts, bars, line),
        element,
      );
      return plot;
    };
    let plot = draw();
    const sizes = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: HEIGHT_PX }));
    sizes.observe(element);
    const scheme = matchMedia('(prefers-color-scheme: dark)');
    const redraw = () => {
      plot.destroy();
      plot = draw();
    };
    scheme.addEventListener('change', redraw);
    return () => {
      scheme.removeEventListener('change', redraw);
      sizes.disconnect();
      plot.destroy();
    };
  }, [starts, end, bars, line]);
  return <div ref={place} role="img" aria-label={label} className="px-2 pt-2" style={{ minHeight: HEIGHT_PX + 40 }} />;
}

/** Bars are drawn one over the other, the whole first, so each has the sum of those below it. */
function dataOf(starts: readonly number[], bars: readonly Series[], line: Series | undefined): uPlot.AlignedData {
  const stacked = bars.map((_, top) =>
    starts.map((_start, i) => bars.slice(0, top + 1).reduce((sum, { values }) => sum + (values[i] ?? 0), 0)),
  );
  // No result, no duration.
  const gaps = line?.values.map((value) => (value === 0 ? null : value));
  return [[...starts], ...stacked.reverse(), ...(gaps ? [gaps] : [])];
}

function optionsOf({ starts, end, bars, line, onSelect }: Omit<ChartProps, 'label'>, element: Element): uPlot.Options {
  const style = getComputedStyle(element);
  const colourOf = (name: string): string => resolved(element, style.getPropertyValue(name));
  const [ink, grid] = [colourOf('--color-soft'), colourOf('--color-line')];
  const width = (starts[1] ?? end) - (starts[0] ?? 0);
  const axis = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { show: false }, font: '11px system-ui' };
  const paths = uPlot.paths.bars?.({ align: 1, size: [0.86, 40], radius: 0.15 });
  return {
    width: element.clientWidth - 16,
    height: HEIGHT_PX,
    scales: {
      x: { range: [starts[0] ?? 0, end] },
      y: { range: (_, __, max) => [0, Math.max(1, max * 1.1)] },
      line: { range: (_, __, max) => [0, Math.max(max * 1.2, 0.001)] },
    },
    axes: [
      axis,
      { ...axis, size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000] },
      ...(line
        ? [
            {
              ...axis,
              scale: 'line',
              side: 1,
              size: 60,
              grid: { show: false },
              values: (_: uPlot, ticks: number[]) => ticks.map(line.format),
            },
          ]
        : []),
    ],
    series: [
      { value: (_, at) => (at === null ? '' : new Date(at * 1_000).toLocaleString()) },
      ...[...bars].reverse().map(({ label, colour, values }) => ({
        label,
        fill: colourOf(colour),
        width: 0,
        points: { show: false },
        ...(paths && { paths }),
        value: (_: uPlot, __: number, ___: number, i: number | null) => (i === null ? '' : String(values[i] ?? 0)),
      })),
      ...(line
        ? [
            {
              label: line.label,
              scale: 'line',
              stroke: colourOf(line.colour),
              width: 1.5,
              spanGaps: true,
              points: { show: true, size: 4 },
              value: (_: uPlot, value: number | null) => (value === null ? '' : line.format(value)),
            },
          ]
        : []),
    ],
    cursor: { drag: { x: true, y: false, setScale: false }, points: { show: false } },
    hooks: {
      setSelect: [
        (plot) => {
          const { left, width: selected } = plot.select;
          if (selected < SELECTION_PX_MIN) return;
          // Whole bars.
          const first = Math.floor((plot.posToVal(left, 'x') - (starts[0] ?? 0)) / width);
          const last = Math.ceil((plot.posToVal(left + selected, 'x') - (starts[0] ?? 0)) / width);
          onSelect?.((starts[0] ?? 0) + first * width, Math.min(end, (starts[0] ?? 0) + last * width));
        },
      ],
    },
  };
}

/** A canvas knows no `light-dark()`. */
function resolved(element: Element, colour: string): string {
  const probe = document.createElement('span');
  probe.style.color = colour;
  element.append(probe);
  const found = getComputedStyle(probe).color;
  probe.remove();
  return found;
}
