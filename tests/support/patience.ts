/** How long tests wait for what must come. No test depends on how fast the machine is: whatever takes this long never comes. */
export const PATIENCE_MS = 300_000;

/** Something did not come within {@link PATIENCE_MS}. */
export class TooLate extends Error {}

/**
 * Waits for what must come, for less than the time limit of a test. When a test meets that limit, Bun ends every process that the
 * run has started, PostgreSQL too, and all tests after it fail.
 *
 * @throws TooLate
 */
export async function soon<T>(what: string, promise: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new TooLate(`after ${PATIENCE_MS / 1_000} s there is still no ${what}`)),
      PATIENCE_MS,
    );
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Reads again and again until what is read is as wanted, and returns it. Without `isWanted`, until it is true.
 *
 * @throws TooLate which says what was read last
 */
export async function until<T>(
  read: () => T | Promise<T>,
  isWanted: (value: T) => boolean = Boolean,
  everyMs = 10,
): Promise<T> {
  for (const end = performance.now() + PATIENCE_MS; ; await Bun.sleep(everyMs)) {
    const value = await read();
    if (isWanted(value)) return value;
    if (performance.now() > end)
      throw new TooLate(`after ${PATIENCE_MS / 1_000} s there is still ${Bun.inspect(value)} from ${read}`);
  }
}
