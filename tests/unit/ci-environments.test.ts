/** Each row of docs/ci-environments.md, with the variables that the CI really sets. */
import { describe, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Checkout } from '../../src/client/checkout.ts';
import { detectCi } from '../../src/client/ci-provider.ts';
import type { Environment } from '../../src/client/run-info.ts';
import { runTargetOf } from '../../src/client/target.ts';
import { isOnDefaultBranch } from '../../src/domain/default-branch.ts';

interface Row {
  env: Environment;
  event?: unknown;
  checkout?: Checkout;
  /** Parameters of the upload; `null`: it must not be there. */
  sent?: Record<string, string | null>;
  /** Flags that are asked for. */
  needs?: string;
  /** Whether it counts for the default branch, `main`. */
  isMain?: boolean;
}

const SHA = 'ffac537e6cbbf934b08745a378932722df287a53';
const HEAD = 'c0ffee6e6cbbf934b08745a378932722df287a53';

const GITHUB: Environment = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_JOB: 'unit',
  GITHUB_RUN_ID: '1658821493',
  GITHUB_RUN_ATTEMPT: '1',
  GITHUB_SHA: SHA,
  GITHUB_REF: 'refs/heads/main',
  GITHUB_REF_NAME: 'main',
  GITHUB_REF_TYPE: 'branch',
  GITHUB_EVENT_NAME: 'push',
  GITHUB_HEAD_REF: '',
  GITHUB_BASE_REF: '',
};
const HERE = { url: 'https://api.github.com/repos/acme/shop' };
const pullOf = (ref: string) => ({
  number: 7,
  head: { ref, sha: HEAD },
  base: { ref: 'main', repo: HERE },
});
const PULL: Environment = {
  ...GITHUB,
  GITHUB_EVENT_NAME: 'pull_request',
  GITHUB_REF: 'refs/pull/7/merge',
  GITHUB_REF_NAME: '7/merge',
  GITHUB_HEAD_REF: 'feat/cart',
  GITHUB_BASE_REF: 'main',
};
const repository = { default_branch: 'main' };
const followed = (run: object) => ({
  repository,
  workflow_run: {
    id: 55,
    run_attempt: 2,
    name: 'Tests',
    html_url: 'https://github.com/acme/shop/actions/runs/55',
    head_sha: HEAD,
    head_repository: { full_name: 'acme/shop' },
    pull_requests: [],
    ...run,
  },
});
const PULL_SENT = { commit: HEAD, branch: 'feat/cart', pull_request: '7', base_ref: 'main' };
const on = (event: string): Environment => ({ ...GITHUB, GITHUB_EVENT_NAME: event });

const GITLAB: Environment = {
  GITLAB_CI: 'true',
  CI_PROJECT_PATH: 'acme/shop',
  CI_PIPELINE_ID: '900',
  CI_PIPELINE_SOURCE: 'push',
  CI_JOB_ID: '50',
  CI_JOB_NAME: 'unit',
  CI_COMMIT_SHA: SHA,
  CI_COMMIT_REF_NAME: 'main',
  CI_COMMIT_BRANCH: 'main',
  CI_DEFAULT_BRANCH: 'main',
};
const { CI_COMMIT_BRANCH: _, ...NO_BRANCH } = GITLAB;
const MERGE_REQUEST: Environment = {
  ...NO_BRANCH,
  CI_PIPELINE_SOURCE: 'merge_request_event',
  CI_COMMIT_REF_NAME: 'feat',
  CI_MERGE_REQUEST_EVENT_TYPE: 'detached',
  CI_MERGE_REQUEST_IID: '12',
  CI_MERGE_REQUEST_PROJECT_PATH: 'acme/shop',
  CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: 'acme/shop',
  CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feat',
  CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
  CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
};
const BITBUCKET: Environment = {
  BITBUCKET_BUILD_NUMBER: '40',
  BITBUCKET_REPO_FULL_NAME: 'acme/shop',
  BITBUCKET_COMMIT: SHA,
};
const AZURE: Environment = {
  TF_BUILD: 'True',
  BUILD_REPOSITORY_NAME: 'acme/shop',
  BUILD_DEFINITIONNAME: 'CI',
  BUILD_REASON: 'IndividualCI',
  SYSTEM_JOBNAME: 'unit',
  BUILD_BUILDID: '815',
  BUILD_SOURCEVERSION: SHA,
  BUILD_SOURCEBRANCH: 'refs/heads/main',
  BUILD_SOURCEBRANCHNAME: 'main',
};
const JENKINS: Environment = {
  JENKINS_URL: 'https://ci.acme.example/',
  BUILD_NUMBER: '31',
  GIT_COMMIT: SHA,
  GIT_URL: 'https://github.com/acme/shop.git',
  STAGE_NAME: 'Unit tests',
  JOB_NAME: 'shop',
};
const BUILDKITE: Environment = {
  BUILDKITE: 'true',
  BUILDKITE_REPO: 'git@github.com:acme/shop.git',
  BUILDKITE_PIPELINE_NAME: 'Shop',
  BUILDKITE_STEP_KEY: 'unit',
  BUILDKITE_BUILD_ID: '0184990a',
  BUILDKITE_RETRY_COUNT: '0',
  BUILDKITE_COMMIT: SHA,
  BUILDKITE_BRANCH: 'main',
  BUILDKITE_PULL_REQUEST: 'false',
  BUILDKITE_PIPELINE_DEFAULT_BRANCH: 'main',
};
const CIRCLE: Environment = {
  CIRCLECI: 'true',
  CIRCLE_PROJECT_USERNAME: 'acme',
  CIRCLE_PROJECT_REPONAME: 'shop',
  CIRCLE_JOB: 'unit',
  CIRCLE_WORKFLOW_ID: '6bd2',
  CIRCLE_SHA1: SHA,
  CIRCLE_BRANCH: 'main',
};
const TRAVIS: Environment = {
  TRAVIS: 'true',
  TRAVIS_REPO_SLUG: 'acme/shop',
  TRAVIS_JOB_ID: '9',
  TRAVIS_JOB_NAME: 'unit',
  TRAVIS_BRANCH: 'main',
  TRAVIS_COMMIT: SHA,
  TRAVIS_PULL_REQUEST: 'false',
};

const MAIN = { commit: SHA, branch: 'main', pull_request: null, base_ref: null };
const TAG = { commit: SHA, branch: null, pull_request: null };
const ALL = '--commit, and --branch or --pull-request';

const ROWS: Record<string, Row> = {
  'GitHub Actions: push to a branch': { env: GITHUB, event: { repository }, sent: MAIN, isMain: true },
  'GitHub Actions: push of a tag': {
    env: { ...GITHUB, GITHUB_REF: 'refs/tags/v1', GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' },
    sent: TAG,
  },
  'GitHub Actions: pull_request': {
    env: PULL,
    event: { number: 7, repository, pull_request: pullOf('feat/cart') },
    sent: PULL_SENT,
  },
  'GitHub Actions: pull_request of a fork whose branch is called main': {
    env: { ...PULL, GITHUB_HEAD_REF: 'main' },
    event: { number: 7, repository, pull_request: pullOf('main') },
    sent: { ...PULL_SENT, branch: 'main' },
  },
  'GitHub Actions: pull_request_target': {
    env: { ...PULL, GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' },
    event: { number: 7, repository, pull_request: pullOf('feat/cart') },
    sent: PULL_SENT,
  },
  'GitHub Actions: pull_request_target without the file of the event': {
    env: { ...PULL, GITHUB_EVENT_NAME: 'pull_request_target', GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' },
    needs: '--pull-request, and --commit',
  },
  'GitHub Actions: pull_request_review': {
    env: { ...PULL, GITHUB_EVENT_NAME: 'pull_request_review', GITHUB_HEAD_REF: '', GITHUB_BASE_REF: '' },
    event: { repository, pull_request: pullOf('feat/cart') },
    sent: PULL_SENT,
  },
  'GitHub Actions: merge_group': {
    env: {
      ...on('merge_group'),
      GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-7-abc',
      GITHUB_REF_NAME: 'gh-readonly-queue/main/pr-7-abc',
    },
    event: { repository, merge_group: { head_sha: SHA, base_ref: 'refs/heads/main' } },
    sent: { commit: SHA, branch: 'gh-readonly-queue/main/pr-7-abc', base_ref: 'main', pull_request: null },
  },
  'GitHub Actions: schedule': {
    env: on('schedule'),
    event: { repository, schedule: '0 3 * * *' },
    checkout: { branch: 'main', commit: undefined },
    sent: MAIN,
    isMain: true,
  },
  'GitHub Actions: schedule that checks out another branch': {
    env: on('schedule'),
    event: { repository, schedule: '0 3 * * *' },
    checkout: { branch: 'release-1', commit: undefined },
    needs: ALL,
  },
  'GitHub Actions: workflow_dispatch on a branch': {
    env: { ...on('workflow_dispatch'), GITHUB_REF: 'refs/heads/feat', GITHUB_REF_NAME: 'feat' },
    event: { repository, inputs: {} },
    checkout: { branch: 'feat', commit: undefined },
    sent: { ...MAIN, branch: 'feat' },
  },
  'GitHub Actions: repository_dispatch': {
    env: on('repository_dispatch'),
    event: { repository, client_payload: { ref: 'feat' } },
    checkout: { branch: undefined, commit: SHA },
    sent: MAIN,
    isMain: true,
  },
  'GitHub Actions: repository_dispatch that checks out another commit': {
    env: on('repository_dispatch'),
    event: { repository, client_payload: { ref: 'feat' } },
    checkout: { branch: undefined, commit: HEAD },
    needs: ALL,
  },
  'GitHub Actions: reusable workflow': {
    env: { ...PULL, GITHUB_WORKFLOW: 'Caller', GITHUB_JOB: 'called' },
    event: { number: 7, repository, pull_request: pullOf('feat/cart') },
    sent: { ...PULL_SENT, pipeline_name: 'Caller', job_name: 'called' },
  },
  'GitHub Actions: issue_comment on a pull request': {
    env: on('issue_comment'),
    event: {
      repository,
      issue: { number: 7, pull_request: { url: 'https://api.github.com/repos/acme/shop/pulls/7' } },
    },
    needs: '--commit',
  },
  'GitHub Actions: issue_comment on an issue': {
    env: on('issue_comment'),
    event: { repository, issue: { number: 8 } },
    needs: ALL,
  },
  'GitHub Actions: check_run': { env: on('check_run'), event: { repository }, needs: ALL },
  'GitHub Actions: workflow_run after a push': {
    env: { ...on('workflow_run'), GITHUB_WORKFLOW: 'Reports' },
    event: followed({ event: 'push', head_branch: 'release-1' }),
    sent: { pipeline_name: 'Tests', run_id: '55', run_attempt: '2', commit: HEAD, branch: 'release-1', base_ref: null },
  },
  'GitHub Actions: workflow_run after a pull request': {
    env: { ...on('workflow_run'), GITHUB_WORKFLOW: 'Reports' },
    event: followed({
      event: 'pull_request',
      head_branch: 'feat/cart',
      pull_requests: [
        pullOf('feat/cart'),
        { number: 3, base: { ref: 'main', repo: { url: 'https://api.github.com/repos/upstream/shop' } } },
      ],
    }),
    sent: { ...PULL_SENT, pipeline_name: 'Tests', run_id: '55', run_attempt: '2' },
  },
  'GitHub Actions: workflow_run after a pull request of a fork': {
    env: { ...on('workflow_run'), GITHUB_WORKFLOW: 'Reports' },
    event: followed({
      event: 'pull_request',
      head_branch: 'main',
      head_repository: { full_name: 'octocat/shop' },
    }),
    needs: '--pull-request',
  },
  'GitHub Actions: workflow_run after another event': {
    env: { ...on('workflow_run'), GITHUB_WORKFLOW: 'Reports' },
    event: followed({ event: 'workflow_run', head_branch: 'main' }),
    needs: ALL,
  },
  'GitLab CI: branch pipeline': { env: GITLAB, sent: MAIN, isMain: true },
  'GitLab CI: tag pipeline': { env: { ...NO_BRANCH, CI_COMMIT_TAG: 'v1', CI_COMMIT_REF_NAME: 'v1' }, sent: TAG },
  'GitLab CI: detached merge request pipeline': {
    env: MERGE_REQUEST,
    sent: { commit: SHA, branch: 'feat', pull_request: '12', base_ref: 'main' },
  },
  'GitLab CI: merged results pipeline': {
    env: {
      ...MERGE_REQUEST,
      CI_MERGE_REQUEST_EVENT_TYPE: 'merged_result',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: HEAD,
    },
    sent: { commit: HEAD, branch: 'feat', pull_request: '12', base_ref: 'main' },
  },
  'GitLab CI: merge train': {
    env: { ...MERGE_REQUEST, CI_MERGE_REQUEST_EVENT_TYPE: 'merge_train', CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: HEAD },
    sent: { commit: SHA, branch: 'feat', pull_request: '12', base_ref: 'main' },
  },
  'GitLab CI: merge request of a fork, in the fork': {
    env: {
      ...MERGE_REQUEST,
      CI_PROJECT_PATH: 'octocat/shop',
      CI_MERGE_REQUEST_SOURCE_PROJECT_PATH: 'octocat/shop',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'main',
    },
    sent: { commit: SHA, branch: 'main', pull_request: '12', base_ref: 'main' },
  },
  'GitLab CI: pull request of an external repository': {
    env: {
      ...NO_BRANCH,
      CI_PIPELINE_SOURCE: 'external_pull_request_event',
      CI_EXTERNAL_PULL_REQUEST_IID: '7',
      CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME: 'feat',
      CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA: HEAD,
      CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME: 'main',
    },
    sent: { commit: HEAD, branch: 'feat', pull_request: '7', base_ref: 'main' },
  },
  'Bitbucket Pipelines: branch': { env: { ...BITBUCKET, BITBUCKET_BRANCH: 'main' }, sent: MAIN, isMain: true },
  'Bitbucket Pipelines: pull request': {
    env: {
      ...BITBUCKET,
      BITBUCKET_BRANCH: 'feat',
      BITBUCKET_PR_ID: '7',
      BITBUCKET_PR_DESTINATION_BRANCH: 'main',
    },
    sent: { commit: SHA, branch: 'feat', pull_request: '7', base_ref: 'main' },
  },
  'Bitbucket Pipelines: tag': { env: { ...BITBUCKET, BITBUCKET_TAG: 'v1' }, sent: TAG },
  'Azure Pipelines: branch': { env: AZURE, sent: MAIN, isMain: true },
  'Azure Pipelines: pull request of a fork on GitHub': {
    env: {
      ...AZURE,
      BUILD_REASON: 'PullRequest',
      BUILD_SOURCEBRANCH: 'refs/pull/7/merge',
      SYSTEM_PULLREQUEST_ISFORK: 'True',
      SYSTEM_PULLREQUEST_SOURCEBRANCH: 'main',
      SYSTEM_PULLREQUEST_TARGETBRANCH: 'main',
      SYSTEM_PULLREQUEST_SOURCECOMMITID: HEAD,
      SYSTEM_PULLREQUEST_PULLREQUESTNUMBER: '7',
      SYSTEM_PULLREQUEST_PULLREQUESTID: '123456',
    },
    sent: { commit: HEAD, branch: 'main', pull_request: '7', base_ref: 'main' },
  },
  'Azure Pipelines: pull request in Azure Repos': {
    env: {
      ...AZURE,
      BUILD_REASON: 'PullRequest',
      BUILD_SOURCEBRANCH: 'refs/pull/7/merge',
      SYSTEM_PULLREQUEST_SOURCEBRANCH: 'refs/heads/feat',
      SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main',
      SYSTEM_PULLREQUEST_SOURCECOMMITID: HEAD,
      SYSTEM_PULLREQUEST_PULLREQUESTID: '7',
    },
    sent: { commit: HEAD, branch: 'feat', pull_request: '7', base_ref: 'main' },
  },
  'Azure Pipelines: run of refs/pull by hand': {
    env: { ...AZURE, BUILD_REASON: 'Manual', BUILD_SOURCEBRANCH: 'refs/pull/7/merge' },
    sent: { commit: SHA, branch: null, pull_request: '7' },
  },
  'Jenkins: multibranch, branch': {
    env: { ...JENKINS, JOB_NAME: 'shop/main', BRANCH_NAME: 'main', BRANCH_IS_PRIMARY: 'true' },
    sent: { ...MAIN, pipeline_name: 'shop' },
    isMain: true,
  },
  'Jenkins: multibranch, pull request of a fork': {
    env: {
      ...JENKINS,
      JOB_NAME: 'shop/PR-7',
      BRANCH_NAME: 'PR-7',
      CHANGE_ID: '7',
      CHANGE_BRANCH: 'main',
      CHANGE_TARGET: 'main',
      CHANGE_FORK: 'octocat',
    },
    sent: { commit: SHA, branch: 'main', pull_request: '7', base_ref: 'main', pipeline_name: 'shop' },
  },
  'Jenkins: pull request builder': {
    env: {
      ...JENKINS,
      GIT_BRANCH: 'origin/pr/7/merge',
      ghprbPullId: '7',
      ghprbSourceBranch: 'feat',
      ghprbTargetBranch: 'main',
      ghprbActualCommit: HEAD,
    },
    sent: { commit: HEAD, branch: 'feat', pull_request: '7', base_ref: 'main' },
  },
  'Jenkins: merge request of the GitLab plugin': {
    env: {
      ...JENKINS,
      GIT_BRANCH: 'origin/main',
      gitlabMergeRequestIid: '7',
      gitlabSourceBranch: 'feat',
      gitlabTargetBranch: 'main',
      gitlabMergeRequestLastCommit: HEAD,
    },
    sent: { commit: HEAD, branch: 'feat', pull_request: '7', base_ref: 'main' },
  },
  'Jenkins: freestyle job': { env: { ...JENKINS, GIT_BRANCH: 'origin/main' }, sent: MAIN, isMain: true },
  'Buildkite: branch': { env: BUILDKITE, sent: MAIN, isMain: true },
  'Buildkite: pull request of a fork': {
    env: {
      ...BUILDKITE,
      BUILDKITE_PULL_REQUEST: '7',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: 'main',
      BUILDKITE_PULL_REQUEST_REPO: 'git://github.com/octocat/shop.git',
    },
    sent: { commit: SHA, branch: 'main', pull_request: '7', base_ref: 'main' },
  },
  'Buildkite: merge queue': {
    env: {
      ...BUILDKITE,
      BUILDKITE_BRANCH: 'gh-readonly-queue/main/pr-7-abc',
      BUILDKITE_MERGE_QUEUE_BASE_BRANCH: 'main',
      BUILDKITE_MERGE_QUEUE_BASE_COMMIT: HEAD,
    },
    sent: { commit: SHA, branch: 'gh-readonly-queue/main/pr-7-abc', base_ref: 'main', pull_request: null },
  },
  'CircleCI: branch': { env: CIRCLE, sent: MAIN, isMain: true },
  'CircleCI: pull request of the same repository': {
    env: { ...CIRCLE, CIRCLE_BRANCH: 'feat', CIRCLE_PULL_REQUEST: 'https://github.com/acme/shop/pull/7' },
    sent: { commit: SHA, branch: 'feat', pull_request: '7' },
  },
  'CircleCI: pull request of a fork': {
    env: { ...CIRCLE, CIRCLE_BRANCH: 'pull/7' },
    sent: { commit: SHA, branch: null, pull_request: '7' },
  },
  'Travis CI: branch': { env: TRAVIS, sent: MAIN, isMain: true },
  'Travis CI: pull request': {
    env: {
      ...TRAVIS,
      TRAVIS_PULL_REQUEST: '7',
      TRAVIS_PULL_REQUEST_BRANCH: 'main',
      TRAVIS_PULL_REQUEST_SLUG: 'octocat/shop',
      TRAVIS_PULL_REQUEST_SHA: HEAD,
    },
    sent: { commit: HEAD, branch: 'main', pull_request: '7', base_ref: 'main' },
  },
  'Travis CI: tag': { env: { ...TRAVIS, TRAVIS_TAG: 'v1', TRAVIS_BRANCH: 'v1' }, sent: TAG },
};

/** Where the provider names neither pipeline nor job. */
const NAMES = { pipeline: 'CI', job: 'unit' };

describe('docs/ci-environments.md', () => {
  const page = readFileSync(join(import.meta.dir, '../../docs/ci-environments.md'), 'utf8');
  const rows = [...page.matchAll(/^\| (\w[^|]*: [^|]*?) \| ([^|]*) \|$/gm)].map(([, name = '', said = '']) => ({
    name,
    said,
  }));

  test('has a row for each case here, and no other', () => {
    expect(rows.map(({ name }) => name)).toEqual(Object.keys(ROWS));
  });

  test('names the flags that are needed where the environment is not enough', () => {
    for (const { name, said } of rows)
      expect([name, said.includes('needs')]).toEqual([name, ROWS[name]?.needs !== undefined]);
  });
});

describe.each(Object.entries(ROWS))('%s', (_name, { env, event, checkout, sent, needs, isMain = false }) => {
  const run = detectCi(env, event, checkout);
  const flags = { ...(!run.pipelineName && { pipeline: NAMES.pipeline }), ...(!run.jobName && { job: NAMES.job }) };

  if (needs === undefined)
    test('is reported as what it tests, and on the default branch only if it is', () => {
      const { query, warnings } = runTargetOf(flags, run);
      const named = Object.fromEntries(Object.keys(sent ?? {}).map((name) => [name, query[name] ?? null]));
      expect(named).toEqual(sent ?? {});
      const { branch = '', base_ref: baseRef = '', pull_request = '0' } = query;
      const about = { branch: String(branch), baseRef: String(baseRef), pullRequest: Number(pull_request) };
      expect(isOnDefaultBranch(about, 'main')).toBe(isMain);
      expect(warnings).toEqual([]);
    });
  else
    test('is refused, and the flags that it needs are named and are enough', () => {
      expect(() => runTargetOf(flags, run)).toThrow(`pass ${needs}.`);
      // A branch alone is not enough where something else is unknown.
      if (needs !== '--pull-request') expect(() => runTargetOf({ ...flags, branch: 'main' }, run)).toThrow('pass --');
      const enough = { ...flags, commit: HEAD, pullRequest: 7 };
      expect(runTargetOf(enough, run).query).toMatchObject({ commit: HEAD, pull_request: '7' });
    });
});

test('the run of a fork stays off the default branch, whatever branch is passed, without its number', () => {
  const { env, event } = ROWS['GitHub Actions: workflow_run after a pull request of a fork'] ?? { env: {} };
  expect(() => runTargetOf({ branch: 'main' }, detectCi(env, event))).toThrow('of the fork octocat/shop');
});

test('the merge request of a fork belongs to the project that it is for', () => {
  const { env } = ROWS['GitLab CI: merge request of a fork, in the fork'] ?? { env: {} };
  expect(detectCi(env)).toMatchObject({ owner: 'acme', repository: 'shop' });
});

describe('a flag that contradicts the environment counts, with a warning', () => {
  const pull = detectCi(PULL, { number: 7, repository, pull_request: pullOf('feat/cart') });
  const push = detectCi(GITHUB, { repository });

  test('such as --branch main in a job of a pull request', () => {
    const { query, warnings } = runTargetOf({ branch: 'main' }, pull);
    expect(query).toMatchObject({ branch: 'main' });
    expect([query.pull_request, query.base_ref]).toEqual([undefined, undefined]);
    expect(warnings).toEqual([expect.stringMatching(/--branch main .* pull request 7 .*GitHub Actions/)]);
  });

  test.each([
    [{ branch: 'other' }, push, /--branch other .* main is tested/],
    [{ pullRequest: 8 }, pull, /--pull-request 8 .* pull request 7 is tested/],
    [{ commit: HEAD }, push, /--commit c0ffee/],
    [{ defaultBranch: 'evil' }, push, /--default-branch evil .* is main/],
  ] as const)('%p', (flags, run, warning) => {
    expect(runTargetOf(flags, run).warnings).toEqual([expect.stringMatching(warning)]);
  });

  test.each([
    [{ branch: 'refs/heads/main', commit: SHA.slice(0, 10), defaultBranch: 'main' }, push],
    [{ branch: 'feat/cart', pullRequest: 7, baseBranch: 'main' }, pull],
    [{ pullRequest: 9 }, push],
  ] as const)('and none if it says the same: %p', (flags, run) => {
    expect(runTargetOf(flags, run).warnings).toEqual([]);
  });
});
