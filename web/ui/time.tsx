/** A moment: how long ago it was, with the reader's time and UTC on hover. */
import { formatAgo, formatLocal, formatUtc } from './format.ts';

export function Time({ at, isWhole = false }: { at: string; isWhole?: boolean }) {
  return (
    <time dateTime={at} title={`${formatLocal(at)}\n${formatUtc(at)}`} className="whitespace-nowrap">
      {isWhole ? formatLocal(at) : formatAgo(at)}
    </time>
  );
}
