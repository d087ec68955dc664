/** What the board shows of a job: what it is about and how large. Not its rows, which would be megabytes a page. */
import { unpack } from '../../queue/encoding.ts';

/** Lists up to this length are shown as they are. */
const LENGTH_MAX = 10;

/** The payload, unpacked, with long lists replaced by their length. Never throws: it shows broken jobs, too. */
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
