/** Pages of lists that are short enough to be read whole. */

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
  return rows
    .map((row) => ({ row, position: keyOf(row) }))
    .filter(({ position }) => key === null || sign * compareKeys(position, key) > 0)
    .sort((one, other) => sign * compareKeys(one.position, other.position))
    .slice(0, limit)
    .map(({ row }) => row);
}

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
