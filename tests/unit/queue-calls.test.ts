/** Calls of BullMQ that are not safe on both of its stores. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Glob } from 'bun';

const ROOT = resolve(import.meta.dir, '../..');

/**
 * On PostgreSQL, a job that its worker moves to the delayed ones may be completed by another worker, unprocessed
 * (taskforcesh/bullmq#4814). A job that has to wait throws, and its attempts are spaced by the backoff of its kind.
 */
const callsOf = (text: string): string[] => text.match(/\b(?:moveToDelayed|DelayedError)\b/g) ?? [];

test('no job is moved to the delayed ones by its worker', () => {
  const files = [...new Glob('{src,workers,packages}/**/*.ts').scanSync({ cwd: ROOT })];
  expect(files.length).toBeGreaterThan(300);
  expect(files.filter((file) => callsOf(readFileSync(join(ROOT, file), 'utf8')).length > 0)).toEqual([]);
});

test('such a call is found', () => {
  expect(callsOf('await job.moveToDelayed(later, token);\nthrow new DelayedError();')).toHaveLength(2);
});
