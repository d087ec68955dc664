/**
 * Does some things side by side, at most a few at a time, in their order.
 *
 * When one fails, no other is begun; what it threw is thrown once all that were begun have ended. So nothing is still
 * written in a transaction that its caller then takes back.
 */
export async function concurrently<T>(
  things: Iterable<T>,
  atOnce: number,
  run: (thing: T) => Promise<void>,
): Promise<void> {
  const left = things[Symbol.iterator]();
  const failures: unknown[] = [];
  const work = async (): Promise<void> => {
    for (let next = left.next(); !next.done && failures.length === 0; next = left.next())
      await run(next.value).catch((error: unknown) => {
        failures.push(error);
      });
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  if (failures.length > 0) throw failures[0];
}
