/** The news of a pass, kept in columns, are the executions and failures of its lines. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { groupOf, mergeGroups } from '../../src/domain/failure-group.ts';

import { News } from '../../src/evaluation/news.ts';
import { summaryOfAll } from '../support/summary.ts';

const START = Date.UTC(2026, 9, 25);
const TEST_IDS = ['test-1', 'test-2', 'test-3'];

const execution = fc.record({
  test_id: fc.constantFrom(...TEST_IDS),
  execution_id: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map(String),
  status: fc.constantFrom('passed' as const, 'failed' as const, 'skipped' as const),
  finished_ms: fc.integer({ min: 0, max: 60 }).map((hours) => START + hours * 5 * 3_600_000),
  filepath: fc.constantFrom('', 'a.test.ts', 'b.test.ts'),
  function: fc.constantFrom('', 'sums'),
  is_flaky: fc.boolean(),
  is_retried: fc.boolean(),
  failure_id: fc.constantFrom('f1', 'f2'),
});
const line = fc.record({
  repository_id: fc.constantFrom('r1', 'r2'),
  on_default: fc.constantFrom(true, true, true, false),
  pipeline_name: fc.constantFrom('CI', 'Nightly'),
  job_name: fc.constantFrom('unit', 'e2e'),
  run_id: fc.constantFrom('1', '2'),
  run_attempt: fc.integer({ min: 1, max: 2 }),
  commit_sha: fc.constantFrom('', 'c1'),
  framework: fc.constantFrom('', 'vitest'),
  framework_version: fc.constantFrom('', '3.2.4'),
  language: fc.constantFrom('', 'javascript'),
  executions: fc.array(execution, { maxLength: 12 }),
});
type GeneratedLine = typeof line extends fc.Arbitrary<infer L> ? L : never;

function textOf({ executions, ...shared }: GeneratedLine): string {
  const failed = executions.flatMap(({ status }, i) => (status === 'failed' ? [i] : []));
  return JSON.stringify({
    ...shared,
    e_execution_id: executions.map((one) => one.execution_id),
    e_test_id: executions.map((one) => one.test_id),
    e_test_name: executions.map((one) => `name of ${one.test_id}`),
    e_status: executions.map((one) => one.status),
    e_finished_ms: executions.map((one) => one.finished_ms),
    e_filepath: executions.map((one) => one.filepath),
    e_function: executions.map((one) => one.function),
    e_is_flaky: executions.map((one) => one.is_flaky),
    e_is_retried: executions.map((one) => one.is_retried),
    f_index: failed,
    f_attempt: failed.map(() => 1),
    f_failure_id: failed.map((i) => executions[i]?.failure_id),
    f_exception_type: failed.map(() => 'Error'),
    f_exception_message: failed.map((i) => `at ${i}`),
  });
}

const expectedOf = (shared: GeneratedLine, one: GeneratedLine['executions'][number]) => ({
  testId: one.test_id,
  pipelineName: shared.pipeline_name,
  jobName: shared.job_name,
  executionId: BigInt(one.execution_id),
  status: one.status,
  finishedAt: one.finished_ms,
  runId: shared.run_id,
  runAttempt: shared.run_attempt,
  commit: shared.commit_sha,
  isFlakyWithinRun: one.is_flaky,
  isRetried: one.is_retried,
});

test('each identity has its executions, their summary and their failures, however many blocks bring them', () => {
  const lines = fc.array(line, { maxLength: 12 });
  fc.assert(
    fc.property(lines, fc.integer({ min: 1, max: 4 }), fc.boolean(), (all, atOnce, areParsed) => {
      const news = new News();
      for (let from = 0; from < all.length; from += atOnce) {
        const block = all.slice(from, from + atOnce).map(textOf);
        news.add(areParsed ? block.map((text): unknown => JSON.parse(text)) : `${block.join('\n')}\n`);
      }
      const onDefault = all.filter((one) => one.on_default);
      expect([...news.repositories.keys()].sort()).toEqual(
        [...new Set(onDefault.map((one) => one.repository_id))].sort(),
      );
      for (const [repositoryId, tests] of news.repositories) {
        const found = onDefault
          .filter((one) => one.repository_id === repositoryId)
          .flatMap((shared) => shared.executions.map((one, i) => ({ shared, one, i })));
        expect([...tests.keys()].sort()).toEqual([...new Set(found.map(({ one }) => one.test_id))].sort());
        for (const [testId, test] of tests) {
          const ofTest = found.filter(({ one }) => one.test_id === testId);
          const conclusive = ofTest.filter(({ one }) => one.status !== 'skipped');
          expect(test.name).toBe(`name of ${testId}`);
          expect(test.since).toBe(Math.min(Number.MAX_SAFE_INTEGER, ...conclusive.map(({ one }) => one.finished_ms)));
          expect(test.hasTrouble).toBe(conclusive.some(({ one }) => one.status === 'failed' || one.is_flaky));
          for (const identity of test.identities) {
            const { pipelineName, jobName } = identity;
            const of = ofTest.filter(
              ({ shared }) => shared.pipeline_name === pipelineName && shared.job_name === jobName,
            );
            const executions = of.map(({ shared, one }) => ({
              ...expectedOf(shared, one),
              framework: shared.framework,
              frameworkVersion: shared.framework_version,
              language: shared.language,
              filepath: one.filepath,
              function: one.function,
            }));
            expect(of.length).toBeGreaterThan(0);
            expect(withoutTies(identity.summary())).toEqual(withoutTies(summaryOfAll(executions)));
            expect(identity.conclusive()).toEqual(
              of.filter(({ one }) => one.status !== 'skipped').map(({ shared, one }) => expectedOf(shared, one)),
            );
          }
          const failures = ofTest
            .filter(({ one }) => one.status === 'failed')
            .map(({ one, i }) => ({
              failureId: one.failure_id,
              group: groupOf({
                failedAt: one.finished_ms,
                executionId: BigInt(one.execution_id),
                attempt: 1,
                exceptionType: 'Error',
                exceptionMessage: `at ${i}`,
              }),
            }));
          const groups = new Map<string, ReturnType<typeof groupOf>>();
          for (const { failureId, group } of failures) groups.set(failureId, mergeGroups(groups.get(failureId), group));
          expect(new Map(test.failures)).toEqual(groups);
        }
      }
    }),
  );
});

/** Executions of one id at one time do not exist; of generated ones, either may be the newest. */
const withoutTies = ({ newest, ...counts }: ReturnType<typeof summaryOfAll>) => ({
  ...counts,
  newest: newest && [newest.finishedAt, newest.executionId],
});

test('a line whose columns differ in length is refused', () => {
  const [whole] = fc.sample(
    line.filter((one) => one.on_default && one.executions.length > 1),
    1,
  );
  if (!whole) throw new Error('no line was generated');
  const broken = { ...JSON.parse(textOf(whole)), e_finished_ms: [] };
  expect(() => new News().add(JSON.stringify(broken))).toThrow('columns of different lengths');
});
