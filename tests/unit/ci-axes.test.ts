/** Axes and places of a CI job: each with the variables that its CI really sets. */
import { describe, expect, test } from 'bun:test';
import { detectCi, type Environment } from '../../src/client/ci-provider.ts';
import { runTargetOf } from '../../src/client/target.ts';
import { type Axes, axesRejection } from '../../src/domain/axes.ts';

const GITHUB = {
  GITHUB_ACTIONS: 'true',
  GITHUB_JOB: 'test',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_RUN_ID: '1',
  GITHUB_SHA: 'abc',
  GITHUB_REF: 'refs/heads/main',
};
const AZURE = {
  TF_BUILD: 'True',
  AGENT_OS: 'Windows_NT',
  AGENT_OSARCHITECTURE: 'X64',
  AGENT_NAME: 'Azure Pipelines 2',
};
const GITLAB = { GITLAB_CI: 'true', CI_RUNNER_ID: '12', CI_RUNNER_DESCRIPTION: 'bluelog runner' };

interface Told {
  job?: string;
  axes?: Axes;
  place?: Axes;
  shard?: string;
}

const ROWS: readonly [what: string, env: Environment, told: Told][] = [
  [
    'GitHub Actions: the machine',
    { ...GITHUB, RUNNER_OS: 'Windows', RUNNER_ARCH: 'X64', RUNNER_NAME: 'GitHub Actions 12' },
    { job: 'test', axes: { os: 'windows', arch: 'x64' }, place: { runner: 'GitHub Actions 12' } },
  ],
  [
    'GitHub Actions: macOS',
    { ...GITHUB, RUNNER_OS: 'macOS', RUNNER_ARCH: 'ARM64' },
    { axes: { os: 'macos', arch: 'arm64' } },
  ],
  [
    'GitHub Actions: a matrix, whose names count more than the machine',
    { ...GITHUB, RUNNER_OS: 'Linux', RUNNER_ARCH: 'X64', CI_INSIGHTS_AXES: '{"os":"ubuntu-24.04","python":"3.13"}' },
    { job: 'test', axes: { os: 'ubuntu-24.04', python: '3.13', arch: 'x64' } },
  ],
  [
    'GitHub Actions: the run that a job follows ran on another machine',
    { ...GITHUB, GITHUB_EVENT_NAME: 'workflow_run', RUNNER_OS: 'Linux', RUNNER_NAME: 'r' },
    { job: 'test' },
  ],
  [
    'GitHub Actions: shards of a matrix',
    { ...GITHUB, CI_INSIGHTS_AXES: '{"node":22,"shard":2}' },
    { axes: { node: '22' }, place: { shard: '2' }, shard: '2' },
  ],
  [
    'GitHub Actions: parts of a matrix, as Knapsack numbers them',
    { ...GITHUB, CI_INSIGHTS_AXES: '{"ci_node_total":4,"ci_node_index":0}' },
    { place: { ci_node_total: '4', ci_node_index: '0' }, shard: '4-0' },
  ],
  [
    'GitLab CI: parallel:matrix tells values without names',
    { ...GITLAB, CI_JOB_NAME: 'unit: [3.13, linux]', CI_NODE_INDEX: '2', CI_NODE_TOTAL: '4' },
    { job: 'unit', axes: { matrix: '3.13, linux' }, place: { runner: 'bluelog runner' } },
  ],
  [
    'GitLab CI: parallel:matrix whose variables are named',
    {
      ...GITLAB,
      CI_JOB_NAME: 'unit: [3.13, linux]',
      CI_NODE_INDEX: '2',
      CI_NODE_TOTAL: '4',
      CI_INSIGHTS_AXES: '{"python":"3.13","os":"linux"}',
    },
    { job: 'unit', axes: { python: '3.13', os: 'linux' }, place: { runner: 'bluelog runner' } },
  ],
  [
    'GitLab CI: a name that only looks like a matrix',
    { ...GITLAB, CI_JOB_NAME: 'unit: [fast]' },
    { job: 'unit: [fast]', place: { runner: 'bluelog runner' } },
  ],
  [
    'Jenkins: a matrix project',
    { JENKINS_URL: 'https://ci/', JOB_NAME: 'acme/shop/label=linux,python=3.13', NODE_NAME: 'agent-4' },
    { job: 'acme/shop', axes: { label: 'linux', python: '3.13' }, place: { runner: 'agent-4' } },
  ],
  [
    'Jenkins: a branch is no combination',
    { JENKINS_URL: 'https://ci/', JOB_NAME: 'shop/a=b', BRANCH_NAME: 'a=b', STAGE_NAME: 'Unit' },
    { job: 'Unit' },
  ],
  [
    'Buildkite: tags of the agent, and a parallel step',
    {
      BUILDKITE: 'true',
      BUILDKITE_STEP_KEY: 'unit',
      BUILDKITE_AGENT_NAME: 'bk-7',
      BUILDKITE_AGENT_META_DATA_OS: 'darwin',
      BUILDKITE_AGENT_META_DATA_ARCH: 'arm64',
      BUILDKITE_PARALLEL_JOB: '1',
      BUILDKITE_PARALLEL_JOB_COUNT: '4',
    },
    { job: 'unit', axes: { os: 'macos', arch: 'arm64' }, place: { runner: 'bk-7', shard: '1' }, shard: '1' },
  ],
  [
    'CircleCI: parallelism',
    { CIRCLECI: 'true', CIRCLE_JOB: 'unit', CIRCLE_NODE_INDEX: '3', CIRCLE_NODE_TOTAL: '4' },
    { job: 'unit', place: { shard: '3' }, shard: '3' },
  ],
  [
    'Azure Pipelines: a matrix',
    {
      ...AZURE,
      SYSTEM_PARALLELEXECUTIONTYPE: 'MultiConfiguration',
      SYSTEM_PHASENAME: 'JSONL',
      SYSTEM_JOBNAME: 'Python39Windows',
      SYSTEM_JOBPOSITIONINPHASE: '2',
      SYSTEM_TOTALJOBSINPHASE: '3',
    },
    {
      job: 'JSONL',
      axes: { os: 'windows', arch: 'x64', matrix: 'Python39Windows' },
      place: { runner: 'Azure Pipelines 2' },
    },
  ],
  [
    'Azure Pipelines: parallel',
    {
      ...AZURE,
      SYSTEM_PARALLELEXECUTIONTYPE: 'MultiMachine',
      SYSTEM_PHASENAME: 'unit',
      SYSTEM_JOBNAME: 'Job2',
      SYSTEM_JOBPOSITIONINPHASE: '2',
      SYSTEM_TOTALJOBSINPHASE: '3',
    },
    {
      job: 'unit',
      axes: { os: 'windows', arch: 'x64' },
      place: { runner: 'Azure Pipelines 2', shard: '2' },
      shard: '2',
    },
  ],
  [
    'Bitbucket Pipelines: parallel steps',
    { BITBUCKET_BUILD_NUMBER: '40', BITBUCKET_PARALLEL_STEP: '1', BITBUCKET_PARALLEL_STEP_COUNT: '2' },
    { place: { shard: '1' }, shard: '1' },
  ],
  [
    'Travis CI: system, architecture and language',
    { TRAVIS: 'true', TRAVIS_OS_NAME: 'osx', TRAVIS_CPU_ARCH: 'amd64', TRAVIS_PYTHON_VERSION: '3.13' },
    { axes: { os: 'macos', arch: 'amd64', python: '3.13' } },
  ],
  ['no known CI', { CI_INSIGHTS_AXES: '{"os":"windows"}' }, { axes: { os: 'windows' } }],
];

test.each(ROWS)('%s', (_, env, { job, axes = {}, place = {}, shard }) => {
  const run = detectCi(env);
  expect({ job: run.jobName, axes: run.axes, place: run.place, shard: run.shard }).toEqual({
    job: job ?? run.jobName,
    axes,
    place,
    shard,
  });
});

describe('CI_INSIGHTS_AXES', () => {
  const axesOf = (text: string): Axes => detectCi({ ...GITHUB, CI_INSIGHTS_AXES: text }).axes;

  test.each(['', 'null', ' null\n', '{}', '{"os":null,"tag":""}'])('%p names none, without a warning', (text) => {
    expect(detectCi({ ...GITHUB, CI_INSIGHTS_AXES: text })).toMatchObject({ axes: {}, place: {}, warnings: [] });
  });

  test.each(['{', '[]', '"os"', '7', 'os=windows'])('%p is no object, which is warned of', (text) => {
    const { warnings } = runTargetOf({}, detectCi({ ...GITHUB, CI_INSIGHTS_AXES: text }));
    expect(warnings).toEqual([expect.stringMatching(/^CI_INSIGHTS_AXES is no JSON object/)]);
  });

  test('whatever a matrix holds becomes text', () => {
    expect(axesOf('{"node": 22, "lto": false, "db": {"name": "pg", "v": [17]}, "tags": ["a", 1]}')).toEqual({
      node: '22',
      lto: 'false',
      db: '{"name":"pg","v":[17]}',
      tags: '["a",1]',
    });
  });

  test('names that the service would refuse are written with hyphens', () => {
    expect(axesOf('{"node version": 1, "a:b=c": 2, "constructor": 3, "__proto__": 4}')).toEqual({
      'node-version': '1',
      'a-b-c': '2',
      constructor: '3',
      '--proto--': '4',
    });
  });

  test('a long value is cut such that two that begin alike stay two, and the service takes both', () => {
    const long = 'é😀'.repeat(200);
    const axes = axesOf(JSON.stringify({ one: `${long}1`, two: `${long}2`, nul: 'a\0b\ud800', [`n${long}`]: 'x' }));
    expect(axesRejection(axes)).toBeNull();
    expect(axes.one).not.toBe(axes.two);
    expect(Object.keys(axes)).toHaveLength(4);
  });
});

describe('flags', () => {
  const run = detectCi({ ...GITHUB, RUNNER_OS: 'Linux', RUNNER_ARCH: 'X64', RUNNER_NAME: 'r1' });

  test('count more than the environment, name by name', () => {
    const { axes, place, query, warnings } = runTargetOf({ axis: { os: 'alpine' }, place: { region: 'eu' } }, run);
    expect([axes, place]).toEqual([
      { os: 'alpine', arch: 'x64' },
      { region: 'eu', runner: 'r1' },
    ]);
    expect([query.axis, query.place]).toEqual([
      ['os:alpine', 'arch:x64'],
      ['region:eu', 'runner:r1'],
    ]);
    expect(warnings).toEqual([]);
  });

  test('leave room for what the environment says, up to 16; what is left out is named', () => {
    const axis = Object.fromEntries(Array.from({ length: 15 }, (_, n) => [`a${n}`, 'x']));
    const { axes, warnings } = runTargetOf({ axis }, run);
    expect([Object.keys(axes).length, axes.os]).toEqual([16, 'linux']);
    expect(warnings).toEqual(['There are more than 16 axes: without arch.']);
  });

  test('no axis and no place is no parameter', () => {
    const { query } = runTargetOf({}, detectCi(GITHUB));
    expect([query.axis, query.place]).toEqual([undefined, undefined]);
  });
});
