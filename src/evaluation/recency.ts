/** Puts tests into one statement whose history is read from about the same time on. */
import { DAY_MS } from '../domain/time.ts';

/** Tests of one statement differ by at most this much. */
const RECENT_MS = 2 * DAY_MS;

/**
 * Tests that run often have recent checkpoints. Read in one statement with a rarely run test, all would be read from
 * that test's old checkpoint.
 */
export function splitByRecency(tests: ReadonlyMap<string, number>): {
  recent: Map<string, number>;
  older: Map<string, number>;
} {
  const newest = [...tests.values()].reduce((most, at) => Math.max(most, at), 0);
  const isRecent = (at: number): boolean => at >= newest - RECENT_MS;
  return {
    recent: new Map([...tests].filter(([, at]) => isRecent(at))),
    older: new Map([...tests].filter(([, at]) => !isRecent(at))),
  };
}
