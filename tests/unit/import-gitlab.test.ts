/** What an import reads out of names and unit tests of GitLab. */
import { describe, expect, test } from 'bun:test';
import { gitlab } from '../../src/client/ci-providers.ts';
import { namedJob, requestOfRef } from '../../src/client/import/gitlab/names.ts';
import { junitOf } from '../../src/client/import/gitlab/test-report.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { outcomesOf, parse } from '../support/reports.ts';

describe('names of jobs', () => {
  test.each([
    ['unit', 'unit', {}, '', 'unit'],
    ['unit: [3.13, linux]', 'unit', { matrix: '3.13, linux' }, '', 'unit: [3.13, linux]'],
    ['unit 2/3', 'unit', {}, 'node-2/', 'unit'],
    ['build: image', 'build: image', {}, '', 'build: image'],
  ])('%s is the job %s', (name, job, axes, prefix, suite) => {
    const runner = { id: 3, description: null };
    expect(namedJob(name, runner)).toEqual({ leg: { job, axes, place: { runner: '3' } }, prefix, suite });
  });

  test.each([
    ['unit', {}],
    ['unit: [3.13, linux]', { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '4' }],
    ['unit: [a: [b]]', { CI_NODE_INDEX: '1', CI_NODE_TOTAL: '1' }],
    ['unit 2/3', { CI_NODE_INDEX: '2', CI_NODE_TOTAL: '3' }],
    ['build: image', {}],
  ])('%s has the names that the job itself sends', (name, node) => {
    const own = gitlab({ CI_JOB_NAME: name, CI_RUNNER_DESCRIPTION: 'runner of the team', ...node });
    const { leg, prefix } = namedJob(name, { id: 3, description: 'runner of the team' });
    expect(leg).toEqual({ job: own.jobName ?? '', axes: own.axes, place: own.place });
    expect(prefix).toBe(own.shard === undefined ? '' : `node-${own.shard}/`);
  });

  test.each([
    ['refs/merge-requests/7/merge', { number: 7, kind: 'merge' }],
    ['refs/merge-requests/12/train', { number: 12, kind: 'train' }],
    ['main', undefined],
    ['refs/merge-requests/7/other', undefined],
  ])('%s tests a merge request, or not', (ref, expected) => {
    expect<unknown>(requestOfRef(ref)).toEqual(expected);
  });
});

test('unit tests that GitLab has read are a JUnit report again, whatever is in their texts', async () => {
  const nothing = { classname: 'Cart', file: null, execution_time: 1.5, system_output: null, stack_trace: null };
  const report = junitOf({
    name: 'unit',
    suite_error: null,
    test_cases: [
      { ...nothing, name: 'adds "<&>"', status: 'success' },
      { ...nothing, name: 'pays', status: 'failed', system_output: 'a ]]> b \u0000\u001b[31m <x>' },
      { ...nothing, name: 'breaks', status: 'error', stack_trace: 'at cart.js:1' },
      { ...nothing, name: 'ships', status: 'skipped' },
    ],
  });
  expect(outcomesOf(await parse(junit, report))).toEqual({
    'Cart.adds "<&>"': 'passed',
    'Cart.pays': 'failed',
    'Cart.breaks': 'failed',
    'Cart.ships': 'skipped',
  });
});
