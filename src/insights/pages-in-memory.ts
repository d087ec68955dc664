/** Pages of lists that are short enough to be read whole. */
import { type CursorKey, isShortened, wholeKey } from '../http/cursor.ts';

type Key = readonly [count: number, ...texts: string[]];

/**
 * The rows beyond a key, nearest first, as a statement would give them: in the order of their keys, texts by bytes.
 *
 * @param isForward whether keys ascend
 */
export function rowsBeyond<Row>(
  rows: readonly Row[],
  keyOf: (row: Row) => Key,
  { key, isForward, limit }: { key: Key | null; isForward: boolean; limit: number },
): Row[] {
  const sign = isForward ? 1 : -1;
  const positions = rows.map((row) => ({ row, position: keyOf(row) }));
  const from = key && wholeAmong(key, rows, keyOf);
  return positions
    .filter(({ position }) => from === null || sign * compareKeys(position, from) > 0)
    .sort((one, other) => sign * compareKeys(one.position, other.position))
    .slice(0, limit)
    .map(({ row }) => row);
}

/** The key of a cursor with its texts whole, if its row is among these. */
export const wholeAmong = <Row, K extends CursorKey>(key: K, rows: readonly Row[], keyOf: (row: Row) => K): K =>
  key.some(isShortened)
    ? wholeKey(
        key,
        rows.flatMap((row) => keyOf(row).filter((part) => typeof part === 'string')),
      )
    : key;

/** An amount in a key, which holds whole numbers: to a thousandth, the greatest first. */
export const mostFirst = (amount: number): number => Math.round(-1_000 * amount);

function compareKeys([count, ...texts]: Key, [otherCount, ...otherTexts]: Key): number {
  if (count !== otherCount) return count - otherCount;
  for (const [i, text] of texts.entries()) {
    const difference = compareBytes(text, otherTexts[i] ?? '');
    if (difference !== 0) return difference;
  }
  return 0;
}

const compareBytes = (one: string, other: string): number =>
  one === other ? 0 : Buffer.compare(Buffer.from(one), Buffer.from(other));
