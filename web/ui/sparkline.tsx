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
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${Math.max(1, bars.length)} 1`}
      preserveAspectRatio="none"
      className={className}
    >
      {bars.map(({ count, title }, i) => {
        const height = count === 0 ? BASELINE : Math.max(HEIGHT_MIN, count / most);
        return (
          // biome-ignore lint/suspicious/noArrayIndexKey: a bar is its place
          <g key={i}>
            <title>{title}</title>
            <rect x={i} y={0} width={1} height={1} fill="transparent" />
            <rect
              x={i + 0.1}
              y={1 - height}
              width={0.8}
              height={height}
              className={count === 0 ? 'fill-line' : 'fill-current'}
            />
          </g>
        );
      })}
    </svg>
  );
}
