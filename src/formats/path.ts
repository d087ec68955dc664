/** The names around a test (suites, describe blocks), as far as they are part of its key and of its name. */
// Not `hash`, which Node has from 20.12 on: the client runs on 20.0.
import { createHash } from 'node:crypto';
import { PLACE_LENGTH_MAX } from '../domain/limits.ts';

/** From the outermost to the innermost. Part of keys, so how it is made never changes. */
export type NamePath = readonly string[];

/**
 * The path within a path. All executions of a suite carry its path in their keys, so a long one is replaced by its
 * digest: nested suites with long names around thousands of tests would take gigabytes. Made step by step, it costs no
 * more than the name that is added.
 */
export const pathWithin = (path: NamePath, name: string): NamePath => boundedPath([...path, name]);

/** A path that is known as a whole. */
export function boundedPath(longer: NamePath): NamePath {
  const length = longer.reduce((sum, one) => sum + one.length, 0);
  return length <= PLACE_LENGTH_MAX
    ? longer
    : [`sha256:${createHash('sha256').update(JSON.stringify(longer)).digest('hex')}`];
}
