/** Cursors of every list: short however long the names, and refused when they were made up; moments at the ends of time. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { MOMENT_MAX, MOMENT_MIN } from '../../src/domain/moment.ts';
import type { MountedOperation } from '../../src/http/operation.ts';
import { mountReceiptLists } from '../../src/ingest/receipts.ts';
import { TEST_NOW } from '../support/clock.ts';
import { linksOf, openTestApp, type TestApp } from '../support/http.ts';
import { setUpInsights } from '../support/insights.ts';
import { addressOf } from '../support/operations.ts';

const EMOJI = '😀'.repeat(255);
const name = (i: number): string => `${'😀'.repeat(9_990)}${i}`;
const NAMES = Array.from({ length: 7 }, (_, i) => name(i));
const place = (i: number): string => `${'😀'.repeat(250)}${i}`;

const insights = setUpInsights(async (fixture) => {
  const failures = [{ message: 'no' }];
  const executions = NAMES.map((name) => ({ name, status: 'failed' as const, failures, at: TEST_NOW - 3_600_000 }));
  // All began at the same time, so that only their names tell the runs apart.
  const jobs = [0, 1, 2].map((i) =>
    fixture.run(executions, { pipeline_name: EMOJI, job_name: place(i), run_id: place(i), commit: EMOJI }),
  );
  await fixture.ingest(...jobs);
});

let app: TestApp;
let lists: MountedOperation[];
let withMoments: MountedOperation[];
beforeAll(async () => {
  let operations: readonly MountedOperation[] = [];
  const { stores } = insights.app;
  app = await openTestApp({
    features: [
      (mounted, http) => mountReceiptLists(mounted, http, stores.receipts),
      (_, http) => {
        operations = http.operations;
      },
    ],
  });
  lists = operations.filter(({ operation }) => operation.query?.cursor);
  withMoments = operations.filter(({ operation: { query } }) => momentsOf(query).length > 0);
});

const momentsOf = (query: MountedOperation['operation']['query'] = {}): string[] =>
  Object.entries(query).flatMap(([parameter, { schema }]) => (schema.format === 'date-time' ? [parameter] : []));

/** An address of the filled repository. */
const filled = (mounted: MountedOperation): string => {
  const { owner, name: repository } = insights.fixture.repository;
  const testId =
    insights.fixture
      .test(NAMES[0] ?? '')
      .split('/')
      .at(-1) ?? '';
  return addressOf(mounted, {
    owner,
    repository,
    repository_name: repository,
    test_id: testId,
    commit_sha: encodeURIComponent(EMOJI),
  });
};
const withQuery = (mounted: MountedOperation, query: Record<string, string>): string => {
  const required = mounted.operation.query?.test_name ? { test_name: '*' } : {};
  return `${filled(mounted)}?${new URLSearchParams({ ...required, ...query })}`;
};

describe('a list of long names', () => {
  test('has short links at any size of its pages, which lead to each entry once, forward and back', async () => {
    for (const mounted of lists)
      for (const perPage of ['2', '100']) {
        const { operationId } = mounted.operation;
        const seen: string[] = [];
        let address: string | undefined = withQuery(mounted, { per_page: perPage });
        let last = '';
        while (address) {
          const response = await app.requestUnchecked(address);
          expect([operationId, response.status]).toEqual([operationId, 200]);
          expect(response.headers.get('link')?.length ?? 0).toBeLessThanOrEqual(8 * 1024);
          seen.push(...(await entriesOf(response)));
          last = address;
          address = linksOf(response).next;
        }
        const back: string[] = [];
        address = last;
        while (address) {
          const response = await app.requestUnchecked(address);
          back.unshift(...(await entriesOf(response)));
          address = linksOf(response).prev;
        }
        expect([operationId, perPage, new Set(seen).size]).toEqual([operationId, perPage, seen.length]);
        expect([operationId, perPage, back.length]).toEqual([operationId, perPage, seen.length]);
        expect(back).toEqual(seen);
        if (['searchTests', 'listCommitFailures'].includes(operationId)) expect(seen).toHaveLength(21);
        if (['listRuns', 'listTestExecutions'].includes(operationId))
          expect([operationId, seen.length]).toEqual([operationId, 3]);
      }
  });

  test('is searched in every order', async () => {
    const search = lists.find(({ operation }) => operation.operationId === 'searchTests');
    if (!search) throw new Error('there is no search');
    for (const sort of ['test_name', 'pipeline_name', 'job_name', 'health_status', 'last_failure_at'])
      for (const direction of ['asc', 'desc']) {
        const seen = new Set<string>();
        let address: string | undefined = withQuery(search, { per_page: '4', sort, direction });
        for (let pages = 0; address && pages < 7; pages++) {
          const response = await app.requestUnchecked(address);
          for (const entry of await entriesOf(response)) seen.add(entry);
          address = linksOf(response).next;
        }
        expect([sort, direction, seen.size, address]).toEqual([sort, direction, 21, undefined]);
      }
  });
});

async function entriesOf(response: Response): Promise<string[]> {
  const body = (await response.json()) as Record<string, unknown>;
  return Object.values(body)
    .filter((value) => Array.isArray(value))
    .flatMap((list) => list.map((entry) => JSON.stringify(entry)));
}

const ODD_PARTS = [
  ...[Number.MAX_SAFE_INTEGER, 8.64e15 + 1, -1, 2 ** 31, 0.5],
  ...['', '\0', '\ud800', 'x'.repeat(100), 'x'.repeat(3_000), null, []],
];
const ODD_WINDOWS = [
  ...[
    [8.64e15, 8.64e15 + 1],
    [0, Number.MAX_SAFE_INTEGER],
    [Number.MIN_SAFE_INTEGER, 0],
    [1, 1],
    [2, 1],
  ],
  ...[[MOMENT_MIN, MOMENT_MAX], [MOMENT_MIN, MOMENT_MIN + 1], [0.5, 1], [], {}, 'x', null],
];

test('a forged cursor is a place in the list or 422, in every list', async () => {
  let forged = 0;
  const pack = (fields: unknown): string => Buffer.from(JSON.stringify(fields)).toString('base64url');
  for (const mounted of lists) {
    const first = await app.requestUnchecked(withQuery(mounted, { per_page: '2' }));
    const { next, first: start = '' } = linksOf(first);
    const given = new URL(next ?? start).searchParams.get('cursor') ?? '';
    const fields: unknown[] = JSON.parse(Buffer.from(given, 'base64url').toString());
    const key = Array.isArray(fields[2]) ? fields[2] : [0, 'a', 'b', 'c'];
    const keys: unknown[] = [
      ...key.flatMap((_, i) => ODD_PARTS.map((part) => key.with(i, part))),
      ...[[], [1], {}, 'x', 1, true, [...key, ...key], ODD_PARTS],
    ];
    const cursors = [
      ...keys.map((odd, i) => fields.with(1, i % 2 === 0 ? 'n' : 'p').with(2, odd)),
      ...ODD_WINDOWS.map((window) => fields.with(3, window)),
      ...[0, 101, -1, 1e9, 'x', null].map((size) => fields.with(4, size)),
      ...[fields.slice(0, 3), [...fields, 1], {}, null, [], 'x'],
    ];
    for (const cursor of cursors) {
      forged++;
      const response = await app.requestUnchecked(withQuery(mounted, { cursor: pack(cursor) }));
      const isRight = response.status === 200 || response.status === 422;
      expect([mounted.operation.operationId, JSON.stringify(cursor).slice(0, 200), isRight || response.status]).toEqual(
        [mounted.operation.operationId, JSON.stringify(cursor).slice(0, 200), true],
      );
    }
  }
  expect(forged).toBeGreaterThan(300);
});

test('a moment at or beyond the ends of time is taken or 422, in every operation that takes one', async () => {
  const odd = [
    ...['0001-01-01T00:00:00Z', '0001-01-01T00:00:00+00:01', '0001-01-01T23:59:59-23:59', '0000-12-31T23:59:59Z'],
    ...['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.9999Z', '9999-12-31T23:59:59-23:59', '9999-12-30T00:00:00Z'],
    ...['1970-01-01T00:00:00Z', '2261-01-01T00:00:00Z', '2300-01-01T00:00:00Z', '1899-12-31T00:00:00Z'],
  ];
  for (const mounted of withMoments) {
    const [one = '', other] = momentsOf(mounted.operation.query);
    const queries = odd.flatMap((first) => [
      { [one]: first },
      ...(other === undefined ? [] : [{ [other]: first }, ...odd.map((second) => ({ [one]: first, [other]: second }))]),
    ]);
    for (const query of queries) {
      const response = await app.requestUnchecked(withQuery(mounted, query));
      const { operationId } = mounted.operation;
      expect([operationId, query, response.status < 500 || response.status]).toEqual([operationId, query, true]);
    }
  }
  const { owner, name: repository } = insights.fixture.repository;
  for (const [path, field] of [
    ['quarantines', 'expires_at'],
    ['backtests', 'since'],
  ] as const)
    for (const at of odd) {
      const body = JSON.stringify({ test_name: 'a', reason: '', auto_quarantine: 'flaky', [field]: at });
      const narrow = JSON.stringify({ auto_quarantine: 'flaky', [field]: at });
      const response = await app.requestUnchecked(`/v1/ci/${owner}/repositories/${repository}/${path}`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: path === 'backtests' ? narrow : body,
      });
      expect([path, at, response.status < 500 || response.status]).toEqual([path, at, true]);
    }
});
