/** Asks to name the legs of a job whose reports disagree, with the line to paste. */
import { Copy } from './copy.tsx';

/** @param report null as the leg: nothing in it is counted as another leg */
export const NameLegs = ({
  report: { unnamed_leg: leg, name_legs_with: line },
}: {
  report: { unnamed_leg: number | null; name_legs_with: string | null };
}) =>
  line !== null && (
    <div className="flex basis-full flex-wrap items-baseline gap-x-3 gap-y-1">
      <span className="text-flaky">
        Two reports of this job disagree{leg !== null && `, so this one is leg ${leg} (unnamed)`}. Name them:
      </span>
      <code className="min-w-0 font-mono text-xs break-all">{line}</code>
      <Copy text={line} />
    </div>
  );
