/** How long random tests try on: a slow machine tries fewer cases, and takes no longer. */

const SECONDS = 8;
/** These are tried, however long they take. */
const RUNS_MIN = 3;

/** The body of a property, which no longer runs once its time is over. */
export function inBudget<Case extends unknown[]>(
  run: (...given: Case) => Promise<void>,
): (...given: Case) => Promise<void> {
  const until = performance.now() + SECONDS * 1_000;
  let runs = 0;
  return async (...given) => {
    if (runs++ >= RUNS_MIN && performance.now() > until) return;
    await run(...given);
  };
}
