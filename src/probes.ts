/** Whether the stores that a process needs respond. */
import pTimeout from 'p-timeout';

/** One probe per store, by name. */
export type Probes = Readonly<Record<string, () => Promise<boolean>>>;

/** A store that does not respond within this time counts as down. */
const TIMEOUT_MS = 2_000;

/** Never throws. */
export const isUp = (probe: () => Promise<boolean>): Promise<boolean> =>
  pTimeout(probe(), { milliseconds: TIMEOUT_MS, fallback: () => false }).catch(() => false);

/** The result, or undefined if the read fails or takes too long. */
export const answerOf = <T>(read: () => Promise<T>): Promise<T | undefined> =>
  pTimeout(read(), { milliseconds: TIMEOUT_MS, message: false }).catch(() => undefined);
