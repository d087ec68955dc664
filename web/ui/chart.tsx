/**
 * Bars over time, stacked, and a line with an axis of its own. One reads a bar by pointing, by touch or by keyboard, and
 * all of them in a table. Days and times are UTC, as what is counted by them.
 */
import type { ReactNode } from 'react';
import { endsOf, marksUpTo, namedSteps } from './chart-scale.ts';
import { formatCount } from './format.ts';
import { Stepper } from './stepper.tsx';
import { Unfolding } from './unfolding.tsx';
import { formatUtcSpan, formatUtcTick } from './utc.ts';

interface ChartSeries {
  name: string;
  /** A class with the colour of its text: it colours the bars, too. */
  colour: string;
  /** Hatched, so that it is told apart without colours. */
  isHatched?: boolean;
  values: readonly number[];
}

interface ChartProps {
  /** Says what is drawn, for those who do not see it. */
  label: string;
  /** Where each bar begins; milliseconds since the epoch. */
  starts: readonly number[];
  /** Where the last bar ends. */
  end: number;
  /** From the bottom to the top. */
  bars: readonly ChartSeries[];
  /** How many of all bars together are so: a narrow bar in front of them. */
  among?: ChartSeries;
  /** 0: there is nothing to show of that time. */
  line?: ChartSeries & { format: (value: number) => string };
  /** A low one has room for few marks. */
  size: 'low' | 'high';
  /** Called with whole bars. */
  onSelect?: (start: number, end: number) => void;
}

const DAY_MS = 86_400_000;
/** From here on, days name bars better than times do. */
const DAYS_MS_MIN = 3 * DAY_MS;
const SIZES = { low: { height: 'h-20', marksMax: 2 }, high: { height: 'h-50', marksMax: 4 } } as const;
const HATCHED = 'bg-[repeating-linear-gradient(135deg,transparent_0_3px,var(--color-card)_3px_4px)]';

export function Chart({ label, starts, end, bars, among, line, size, onSelect }: ChartProps) {
  const totals = starts.map((_, i) => bars.reduce((sum, { values }) => sum + (values[i] ?? 0), 0));
  const { marksMax } = SIZES[size];
  const marks = marksUpTo(Math.max(0, ...totals), true, marksMax);
  const lineMarks = line && marksUpTo(Math.max(0, ...line.values), false, marksMax);
  const [top = 1, lineTop = 1] = [marks.at(-1), lineMarks?.at(-1)];
  const endOf = (i: number): number => starts[i + 1] ?? end;
  const spanOf = (i: number): string => formatUtcSpan(starts[i] ?? end, endOf(i));
  const counted = among ? [...bars, among] : bars;
  const columns = [
    ...counted.map((series) => ({ ...series, format: formatCount })),
    ...(line ? [{ ...line, format: (value: number) => (value === 0 ? '–' : line.format(value)) }] : []),
  ];
  const told = ({ values, format }: (typeof columns)[number], i: number): string => format(values[i] ?? 0);
  return (
    <figure className="flex min-w-0 flex-col gap-2">
      <div className="grid grid-cols-[auto_minmax(0,1fr)_auto] gap-x-2 text-xs text-soft tabular-nums">
        <Marks marks={marks} top={top} format={formatCount} side="text-right" />
        <Stepper
          label={label}
          ends={endsOf(starts.map((start, i) => endOf(i) - start))}
          describe={(i) => [spanOf(i), ...columns.map((one) => `${one.name} ${told(one, i)}`)].join(', ')}
          onSelect={onSelect && ((first, last) => onSelect(starts[first] ?? end, endOf(last)))}
          className={`border-b border-line ${SIZES[size].height}`}
        >
          {(at, selected) => (
            <>
              {marks.slice(1).map((mark) => (
                <span
                  key={mark}
                  className="absolute inset-x-0 border-t border-line"
                  style={{ bottom: shareOf(mark, top) }}
                />
              ))}
              <div className="absolute inset-0 flex items-stretch">
                {starts.map((start, i) => {
                  const isChosen = selected ? i >= selected.first && i <= selected.last : i === at;
                  return (
                    <div key={start} className={`relative min-w-0 flex-1 ${isChosen ? 'bg-raised' : ''}`}>
                      <div className="absolute inset-x-[7%] bottom-0 flex h-full flex-col justify-end">
                        {bars.toReversed().map(({ name, colour, isHatched, values }) => (
                          <Bar
                            key={name}
                            value={values[i] ?? 0}
                            top={top}
                            className={`bg-current ${colour} ${isHatched ? HATCHED : ''}`}
                          />
                        ))}
                      </div>
                      {among && (
                        <div className="absolute inset-x-[33%] bottom-0 flex h-full flex-col justify-end">
                          <Bar value={among.values[i] ?? 0} top={top} className={`bg-current ${among.colour}`} />
                        </div>
                      )}
                    </div>
                  );
                })}
              </div>
              {line && <Line values={line.values} top={lineTop} colour={line.colour} />}
              {at !== undefined && (
                <Told side={at < starts.length / 2 ? 'right' : 'left'} step={at} count={starts.length}>
                  <span className="block font-medium whitespace-nowrap text-ink">
                    {selected ? formatUtcSpan(starts[selected.first] ?? end, endOf(selected.last)) : spanOf(at)}
                  </span>
                  {(selected ? [] : columns).map((one) => (
                    <span key={one.name} className="flex items-center gap-1.5 whitespace-nowrap">
                      <Swatch series={one} /> {one.name}
                      <span className="ml-auto pl-3 text-ink">{told(one, at)}</span>
                    </span>
                  ))}
                </Told>
              )}
            </>
          )}
        </Stepper>
        {line && lineMarks ? <Marks marks={lineMarks} top={lineTop} format={line.format} side="text-left" /> : <span />}
        <span />
        <Ticks starts={starts} end={end} />
      </div>
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-xs text-soft">
        {columns.length > 1 &&
          columns.map((one) => (
            <span key={one.name} className="flex items-center gap-1.5">
              <Swatch series={one} /> {one.name}
            </span>
          ))}
        <Unfolding className="ml-auto max-w-full open:w-full" grid="rounded-md text-right" summary="As a table">
          {() => (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
            <section aria-label={`${label}, as a table`} tabIndex={0} className="max-h-80 overflow-auto">
              <table className="w-full tabular-nums">
                <thead>
                  <tr className="text-soft">
                    <th scope="col" className="px-4 py-1 text-left font-normal">
                      When
                    </th>
                    {columns.map(({ name }) => (
                      <th key={name} scope="col" className="px-4 py-1 text-right font-normal">
                        {name}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {starts.map((start, i) => (
                    <tr key={start} className="border-t border-line">
                      <th scope="row" className="px-4 py-1 text-left font-normal">
                        {spanOf(i)}
                      </th>
                      {columns.map((one) => (
                        <td key={one.name} className="px-4 py-1 text-right">
                          {told(one, i)}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </section>
          )}
        </Unfolding>
      </div>
    </figure>
  );
}

const shareOf = (value: number, top: number): string => `${(100 * value) / top}%`;

/** Whatever is not nothing can be seen. */
const Bar = ({ value, top, className }: { value: number; top: number; className: string }) =>
  value === 0 ? null : <span className={`block min-h-0.5 ${className}`} style={{ height: shareOf(value, top) }} />;

interface MarksProps {
  marks: readonly number[];
  top: number;
  format: (value: number) => string;
  side: string;
}

/** The names of the marks of an axis, all of them in the flow, so that the longest makes the width. */
const Marks = ({ marks, top, format, side }: MarksProps) => (
  <div aria-hidden="true" className={`relative ${side}`}>
    {marks.map((mark) => (
      <span key={mark}>
        <span className="invisible block h-0">{format(mark)}</span>
        <span className="absolute inset-x-0 -translate-y-1/2" style={{ top: shareOf(top - mark, top) }}>
          {format(mark)}
        </span>
      </span>
    ))}
  </div>
);

/** The names of some bars, each below its bar; on a phone, of every other one. */
function Ticks({ starts, end }: Pick<ChartProps, 'starts' | 'end'>) {
  const isWholeDay = end - (starts[0] ?? end) >= DAYS_MS_MIN;
  return (
    <div aria-hidden="true" className="relative h-5">
      {namedSteps(starts.length).map((i, place) => (
        <span
          key={i}
          className={`absolute top-1 whitespace-nowrap ${place % 2 === 1 ? 'max-sm:hidden' : ''}`}
          style={{ left: shareOf(i, starts.length) }}
        >
          {formatUtcTick(starts[i] ?? 0, isWholeDay)}
        </span>
      ))}
    </div>
  );
}

/** Leaves out what is 0. */
function Line({ values, top, colour }: { values: readonly number[]; top: number; colour: string }) {
  const points = values.flatMap((value, i) => (value === 0 ? [] : [`${i + 0.5},${1 - value / top}`]));
  return (
    <svg
      aria-hidden="true"
      viewBox={`0 0 ${Math.max(1, values.length)} 1`}
      preserveAspectRatio="none"
      className={`pointer-events-none absolute inset-0 size-full overflow-visible ${colour}`}
    >
      {/* Twice: with an edge of the page's colour, it can be seen in front of bars. */}
      {['stroke-card stroke-4', 'stroke-current stroke-2'].map((look) => (
        <polyline
          key={look}
          points={points.length === 1 ? [...points, ...points].join(' ') : points.join(' ')}
          fill="none"
          vectorEffect="non-scaling-stroke"
          strokeLinejoin="round"
          strokeLinecap="round"
          className={look}
        />
      ))}
    </svg>
  );
}

const Swatch = ({ series: { colour, isHatched } }: { series: Pick<ChartSeries, 'colour' | 'isHatched'> }) => (
  <span className={`size-2.5 shrink-0 rounded-xs bg-current ${colour} ${isHatched ? HATCHED : ''}`} />
);

interface ToldProps {
  side: 'left' | 'right';
  step: number;
  count: number;
  children: ReactNode;
}

/** What a bar says, beside it. Screen readers have it as the value of the drawing. */
const Told = ({ side, step, count, children }: ToldProps) => (
  <div
    aria-hidden="true"
    className="pointer-events-none absolute top-0 z-10 mx-1 rounded-md border border-line bg-card px-2 py-1.5 shadow-md"
    style={side === 'right' ? { left: shareOf(step + 1, count) } : { right: shareOf(count - step, count) }}
  >
    {children}
  </div>
);
