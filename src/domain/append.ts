/** Adds items to the end of a list. `push(...items)` fails with some hundred thousand, because each becomes an argument. */
export function appendAll<T>(list: T[], items: Iterable<T>): void {
  for (const item of items) list.push(item);
}
