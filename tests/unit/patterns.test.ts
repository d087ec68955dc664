/** Every regular expression takes linear time, whatever the text: most of them meet text that anyone may have written. */
import { describe, expect, test } from 'bun:test';
import { resolve } from 'node:path';
import { normaliseMessage } from '../../src/domain/fingerprint.ts';
import { PARTS } from '../../src/domain/message-parts.ts';
import { DATE_TIME } from '../../src/domain/moment.ts';
import { patternsIn, slowness } from '../support/patterns.ts';

const ROOT = resolve(import.meta.dir, '../..');
const { literals, makers } = patternsIn(ROOT, [
  'src/**/*.ts',
  'workers/**/*.ts',
  'packages/*/src/**/*.ts',
  'web/**/*.{ts,tsx}',
]);

/** Patterns that are made at run time, by the file that makes them. */
const MADE: Record<string, readonly RegExp[]> = {
  'src/domain/fingerprint.ts': [/!\[[0-9;]{0,20}[A-Za-z]/g],
  'src/domain/message-parts.ts': PARTS.map(({ pattern }) => pattern),
  'src/domain/moment.ts': [DATE_TIME],
  // Paths, from routes.
  'src/hosts-config.ts': [/^([a-z0-9-]+)(?:\/([\w.-]+))?=(.{16,})$/],
  'src/http/edge.ts': [/^\/app\/.*\/?$/, /^\/v1\/ci\/[^/]+\/repositories\/[^/]+\/?$/],
  'src/operate/board/board.ts': [/^\/api\/queues\/([^/]+)\/([^/]+)$/],
  'src/http/session-cookie.ts': [/(?:^|;\s*)ci_insights_session=([\w-]+)/],
  'src/operate/doctor/queue.ts': [/^redis_version:(.*?)\r?$/m],
  'src/postgres/test-selection.ts': [/^(?:\\.|[^%_\\]){1,40}/su],
};

/** Patterns that meet short texts or texts of ours only, as they are written, with the reason. */
const HARMLESS: Record<string, string> = {
  '\\.trace$|(?:^|[\\\\/_-])trace[^\\\\/]*\\.zip$': 'the last 200 characters of a path',
  '\\B(?=(?:\\d{3})+$)': 'the digits of one number',
  '<script>([\\s\\S]*?)<\\/script>': 'the page of Swagger UI',
  '<link\\b[^>]*href="https?:[^>]*>': 'the page of Bull Board',
};

test('the sources have been found', () => {
  expect(literals.length).toBeGreaterThan(150);
  expect(makers).toEqual(Object.keys(MADE).sort());
});

const meant = literals.filter(({ pattern }) => !Object.hasOwn(HARMLESS, pattern.source));

test.each(meant.map(({ place, pattern }) => [place, pattern] as const))('%s', (_, pattern) => {
  expect(slowness(pattern)).toBeUndefined();
});

test.each(Object.entries(MADE))('%s, at run time', (_, patterns) => {
  for (const pattern of patterns) expect([pattern, slowness(pattern)]).toEqual([pattern, undefined]);
});

describe('the test itself', () => {
  test.each([/\s*\n\s*/g, /\beyJ[\w-]{10,}(?:\.[\w-]+){1,2}/g, /,.*;$/])('finds that %p is slow', (pattern) => {
    expect(slowness(pattern)).toBeString();
  });
});

test('the fingerprint of a message takes no longer for names that look like tokens', () => {
  // Beyond 8,000 characters nothing counts, so this measures several in a row.
  const timeOf = (message: string): number => {
    let quickest = Number.POSITIVE_INFINITY;
    for (let i = 0; i < 20; i++) {
      const startedAt = performance.now();
      normaliseMessage(message);
      quickest = Math.min(quickest, performance.now() - startedAt);
    }
    return quickest;
  };
  expect(timeOf('-eyJ'.repeat(2_000)) / timeOf('-abc'.repeat(2_000))).toBeLessThan(20);
});
