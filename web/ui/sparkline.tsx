/** Counts over time as bars without axes, in a row or beside a figure. The page that it leads to has the chart. */

interface SparklineProps {
  bars: readonly { count: number; title: string }[];
  /** Says what the bars show, for those who do not see them. */
  label: string;
  /** Their size and colour. */
  className: string;
}

/** Share of the height: what is not nothing can be seen beside what is much. */
const HEIGHT_MIN = 0.06;
const BASELINE = 0.03;
/** Fewer do not fill the height: one failure must not look like ten. */
const FULL_MIN = 5;

export function Sparkline({ bars, label, className }: SparklineProps) {
  const most = Math.max(FULL_MIN, ...bars.map(({ count }) => count));
  const drawn = bars.map(({ count }, i) => {
    const height = count === 0 ? BASELINE : Math.max(HEIGHT_MIN, count / most);
    return { count, shape: `M${i + 0.1} 1V${1 - height}h0.8V1z` };
  });
  const shapes = (isNone: boolean): string =>
    drawn
      .filter(({ count }) => (count === 0) === isNone)
      .map(({ shape }) => shape)
      .join('');
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, bars.length)} 1`}
      preserveAspectRatio="none"
      className={className}
    >
      <path d={shapes(true)} className="fill-line" />
      <path d={shapes(false)} className="fill-current" />
      {bars.map(({ title }, i) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
        <rect key={i} x={i} y={0} width={1} height={1} fill="transparent">
          <title>{title}</title>
        </rect>
      ))}
    </svg>
  );
}
