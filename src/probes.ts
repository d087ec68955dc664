/** Whether what a process needs is there. */
import pTimeout from 'p-timeout';

/** By the name of a store; what has not answered by then counts as down. */
export type Probes = Readonly<Record<string, () => Promise<boolean>>>;

const TIMEOUT_MS = 2_000;

/** Never throws. */
export const isUp = (probe: () => Promise<boolean>): Promise<boolean> =>
  pTimeout(probe(), { milliseconds: TIMEOUT_MS, fallback: () => false }).catch(() => false);
