/** Tests whose history is read from about the same moment on go into one statement. */
import { DAY_MS } from '../domain/time.ts';

/** What is read in one statement from one moment on lies within this time. */
const RECENT_MS = 2 * DAY_MS;

/** Tests that run often stand at recent checkpoints; read together with one that seldom runs, they would be read from its on. */
export function splitByTime(tests: ReadonlyMap<string, number>): {
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
