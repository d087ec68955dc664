/** The window that a page looks at: one of the usual ones, or one that was dragged. */
import type { TimeWindow } from '../api/queries.ts';
import { formatBoth } from '../ui/format.ts';
import { Hint } from '../ui/hint.tsx';
import { formatUtcSpan } from '../ui/utc.ts';

type Days = '1' | '7' | '30' | '90';
const PRESETS: readonly (readonly [Days, string])[] = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
];

interface WindowBarProps {
  window: TimeWindow;
  /** Undefined: the window was dragged. */
  days: Days | undefined;
  onDays: (days: Days) => void;
}

export const WindowBar = ({ window, days, onDays }: WindowBarProps) => (
  <div className="flex flex-wrap items-center gap-2">
    <Hint text={`${formatBoth(window.start)}\n–\n${formatBoth(window.end)}`} className="text-soft">
      {formatUtcSpan(Date.parse(window.start), Date.parse(window.end))}
    </Hint>
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
);
