/** A job on the queue page: its subject and size, not its rows, which would be megabytes per page. */
import { unpack } from '../../queue/encoding.ts';

/** Longer lists are shown as their length. */
const LENGTH_MAX = 10;

/** The unpacked payload with long lists replaced by their length. Never throws: it must show broken jobs too. */
export function summaryOf(data: unknown): unknown {
  try {
    return shortened(unpack(data).payload);
  } catch (error) {
    return { unreadable: error instanceof Error ? error.message : String(error) };
  }
}

function shortened(value: unknown): unknown {
  if (Array.isArray(value)) return value.length > LENGTH_MAX ? `${value.length} values` : value.map(shortened);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, shortened(inner)]));
}
