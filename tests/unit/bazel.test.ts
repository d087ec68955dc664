import { describe, expect, test } from 'bun:test';
import { usualFailureCodes } from '../../src/client/gate/exit-codes.ts';
import { bazel } from '../../src/formats/bazel/format.ts';
import { InvalidUpload } from '../../src/formats/errors.ts';
import { executionsOf, fixtureBytes } from '../support/parsing.ts';
import { executionNamed, keysOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

const line = (event: object): string => `${JSON.stringify(event)}\n`;
const result = (content: object, id: object = {}): string =>
  line({ id: { testResult: { label: '//a:t', ...id } }, testResult: content });
const END = line({ id: { buildFinished: {} }, lastMessage: true });

describe('build events', async () => {
  const reported = await parseFixture(bazel, 'build-events.ndjson');
  test('each run of a target is an execution; shards and attempts are parts of it', () => {
    expect(executionsOf(reported).map(({ name, status, isFlaky }) => [name, isFlaky ? 'flaky' : status])).toEqual([
      ['//cart:totals_test', 'passed'],
      ['//cart:prices_test', 'failed'],
      ['//cart:flaky_test', 'flaky'],
      ['//cart:sharded_test', 'failed'],
      ['//cart:repeated_test', 'passed'],
      ['//cart:repeated_test', 'failed'],
      ['[k8-fastbuild] › //courier:ships_test', 'passed'],
      ['[arm64-opt] › //courier:ships_test', 'failed'],
    ]);
    expect(new Set(keysOf(reported)).size).toBe(8);
    expect(reported.runs[0]?.run).toMatchObject({ framework: 'bazel', framework_version: '8.4.2' });
  });
  test('time and duration are those of the last attempt, and of all shards together', () => {
    expect(executionNamed(reported, '//cart:flaky_test')).toMatchObject({
      durationSeconds: 1.5,
      finishedAtMs: Date.parse('2026-11-21T09:30:03.500Z'),
      isRetried: true,
      failures: [{ attempt: 1, message: 'The test failed.' }],
    });
    expect(executionNamed(reported, '//cart:sharded_test')).toMatchObject({
      durationSeconds: 3,
      failures: [
        {
          type: 'TIMEOUT',
          message: 'The test timed out.',
          stacktrace: 'test.log: file:///home/me/shop/bazel-out/k8-fastbuild/testlogs/cart/sharded_test/test.log',
        },
      ],
    });
  });
  test('what came from a cache does not count, and what was not built is trouble', () => {
    expect(reported.warnings).toEqual([
      'Bazel took the results of 1 target from a cache. They did not run and are not counted; --nocache_test_results runs them.',
      '//cart:broken_test was not built.',
      '1 name (//courier:ships_test) stands in several suites. Each is a separate test, named by its suite.',
    ]);
  });
});

test('a build that does not end keeps the targets that are summed up', async () => {
  const lines = Buffer.from(await fixtureBytes('bazel/build-events.ndjson'))
    .toString()
    .split('\n');
  const cut = await parse(bazel, lines.slice(0, 13).join('\n'));
  expect(executionsOf(cut).map(({ name }) => name)).toEqual([
    '//cart:totals_test',
    '//cart:prices_test',
    '//cart:flaky_test',
  ]);
  expect(cut.isCutShort).toBe(true);
});
test('tests that did not come to their end, shards without a result and odd events are trouble', async () => {
  const summary = line({ id: { testSummary: { label: '//a:t' } }, testSummary: { shardCount: 3 } });
  const upload = await parse(
    bazel,
    [
      result({ status: 'PASSED' }),
      result({ status: 'INCOMPLETE' }, { shard: 2 }),
      result({}, { label: 7 }),
      summary,
      END,
    ].join(''),
  );
  expect(upload.warnings).toEqual([
    '//a:t did not come to its end: INCOMPLETE.',
    '//a:t has 2 shards without a result.',
    '1 test result cannot be read: Bazel writes them otherwise.',
  ]);
  const aborted = line({ id: { pattern: {} }, aborted: { reason: 'LOADING_FAILURE', description: 'no such package' } });
  expect((await parse(bazel, aborted + END)).warnings).toEqual(['The build was not tested: no such package.']);
});
test('bazel test ends with 3 if tests failed', () => expect(usualFailureCodes(bazel)).toEqual([3]));

test.each(['', 'nonsense', '{"id":7}', '{"id":{"a":1}}\n', '{"Action":"run"}\n'])(
  '%s is no build event',
  async (body) => {
    expect(await refusalOf(bazel, body)).toBeInstanceOf(InvalidUpload);
    expect(await bazel.isOther(Buffer.from(body))).toBe(body.startsWith('{'));
  },
);
