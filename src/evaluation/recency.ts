/** Puts identities into one statement whose history is read from about the same time on. */
import { DAY_MS } from '../domain/time.ts';

/** Those of one statement differ by at most this much. */
const RECENT_MS = 2 * DAY_MS;

/**
 * What runs often has recent checkpoints. Read in one statement with what runs rarely, all would be read from an old
 * checkpoint.
 */
export function splitByRecency(moments: ReadonlyMap<string, number>): {
  recent: Map<string, number>;
  older: Map<string, number>;
} {
  const newest = [...moments.values()].reduce((most, at) => Math.max(most, at), 0);
  const isRecent = (at: number): boolean => at >= newest - RECENT_MS;
  return {
    recent: new Map([...moments].filter(([, at]) => isRecent(at))),
    older: new Map([...moments].filter(([, at]) => !isRecent(at))),
  };
}
