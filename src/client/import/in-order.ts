/** Does a few things ahead of what is used, in order. */

/** @param ahead how many results may wait for their turn */
export async function* aheadOf<Item, Result>(
  items: AsyncIterable<Item>,
  ahead: number,
  prepare: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const waiting: Promise<Result>[] = [];
  for await (const item of items) {
    const prepared = prepare(item);
    // It is thrown when it is its turn.
    prepared.catch(() => {});
    waiting.push(prepared);
    if (waiting.length > ahead) yield await (waiting.shift() as Promise<Result>);
  }
  for (const result of waiting) yield await result;
}
