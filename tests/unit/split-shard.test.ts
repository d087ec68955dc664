/** Which shard of which run a job is, as CI providers tell it. */
import { describe, expect, test } from 'bun:test';
import { detectCi } from '../../src/client/ci-provider.ts';
import { runIdOf, shardOf } from '../../src/client/split/shard.ts';

test.each([
  ['CircleCI counts from 0', { CIRCLE_NODE_TOTAL: '4', CIRCLE_NODE_INDEX: '0' }, { total: 4, index: 0 }],
  [
    'Buildkite counts from 0',
    { BUILDKITE_PARALLEL_JOB_COUNT: '3', BUILDKITE_PARALLEL_JOB: '2' },
    { total: 3, index: 2 },
  ],
  ['GitLab counts from 1', { CI_NODE_TOTAL: '3', CI_NODE_INDEX: '3' }, { total: 3, index: 2 }],
  [
    'Bitbucket counts from 0',
    { BITBUCKET_PARALLEL_STEP_COUNT: '2', BITBUCKET_PARALLEL_STEP: '1' },
    { total: 2, index: 1 },
  ],
  ['Azure counts from 1', { SYSTEM_TOTALJOBSINPHASE: '2', SYSTEM_JOBPOSITIONINPHASE: '1' }, { total: 2, index: 0 }],
])('%s', (_, variables, shard) => {
  expect(shardOf({}, variables)).toEqual(shard);
});

test('flags count from 0 on, and replace both numbers of the CI', () => {
  const gitlab = { CI_NODE_TOTAL: '3', CI_NODE_INDEX: '3' };
  expect(shardOf({ total: 8, index: 0 }, gitlab)).toEqual({ total: 8, index: 0 });
  expect(() => shardOf({ total: 8 }, gitlab)).toThrow('Pass both --total and --index.');
  expect(() => shardOf({ index: 1 }, gitlab)).toThrow('Pass both --total and --index.');
});

test('a number that is missing, odd or out of range is an error, and not a guess', () => {
  // GitLab sets the total of every job.
  for (const variables of [{}, { CI_NODE_TOTAL: '1' }, { CI_NODE_TOTAL: '3', CI_NODE_INDEX: 'x' }])
    expect(() => shardOf({}, variables)).toThrow('pass --total, and --index from 0 on');
  expect(() => shardOf({}, { CI_NODE_TOTAL: '3', CI_NODE_INDEX: '4' })).toThrow('There is no part 3 of 3');
  expect(() => shardOf({}, { CI_NODE_TOTAL: '3', CI_NODE_INDEX: '0' })).toThrow('There is no part -1 of 3');
  expect(() => shardOf({ total: 2, index: 2 }, {})).toThrow('There is no part 2 of 2');
});

describe('the run that shards have in common', () => {
  const runOf = (variables: Record<string, string>, flags = {}) => runIdOf(flags, detectCi(variables), variables);

  test('is the pipeline at GitLab and the build at Travis, where each job has another id', () => {
    expect(runOf({ GITLAB_CI: 'true', CI_JOB_ID: '7', CI_PIPELINE_ID: '100' })).toBe('100');
    expect(runOf({ TRAVIS: 'true', TRAVIS_JOB_ID: '7', TRAVIS_BUILD_ID: '100' })).toBe('100');
    // Never the id of one job: each shard would be told about another run.
    expect(() => runOf({ GITLAB_CI: 'true', CI_JOB_ID: '7' })).toThrow('pass --run-id');
  });

  test('is the run elsewhere, the same for each of its attempts', () => {
    expect(runOf({ GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '5', GITHUB_RUN_ATTEMPT: '2' })).toBe('5');
    expect(runOf({ CIRCLECI: 'true', CIRCLE_WORKFLOW_ID: 'w', CIRCLE_BUILD_NUM: '9' })).toBe('w');
    expect(runOf({}, { runId: 'mine' })).toBe('mine');
    expect(() => runOf({})).toThrow('pass --run-id');
  });
});
