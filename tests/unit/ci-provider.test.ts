import { describe, expect, test } from 'bun:test';
import { detectCi, type RunInfo } from '../../src/client/ci-provider.ts';

/** The fields that say something. */
const said = (run: RunInfo): Partial<RunInfo> =>
  Object.fromEntries(Object.entries(run).filter(([, value]) => value !== undefined && !isEmpty(value)));

const isEmpty = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length === 0;

const GITHUB = {
  CI: 'true',
  GITHUB_ACTIONS: 'true',
  GITHUB_REPOSITORY: 'acme/shop',
  GITHUB_WORKFLOW: 'CI',
  GITHUB_JOB: 'unit',
  GITHUB_RUN_ID: '1658821493',
  GITHUB_RUN_ATTEMPT: '2',
  GITHUB_SHA: 'ffac537e6cbbf934b08745a378932722df287a53',
};

describe('GitHub Actions', () => {
  test('a push to a branch', () => {
    const env = { ...GITHUB, GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main', GITHUB_REF_TYPE: 'branch' };
    expect(
      said(detectCi({ ...env, GITHUB_HEAD_REF: '', GITHUB_BASE_REF: '' }, { repository: { default_branch: 'main' } })),
    ).toEqual({
      provider: 'GitHub Actions',
      owner: 'acme',
      repository: 'shop',
      pipelineName: 'CI',
      jobName: 'unit',
      runId: '1658821493',
      runAttempt: 2,
      commit: 'ffac537e6cbbf934b08745a378932722df287a53',
      branch: 'main',
      defaultBranch: 'main',
    });
  });

  const PULL = {
    ...GITHUB,
    GITHUB_EVENT_NAME: 'pull_request',
    GITHUB_REF: 'refs/pull/7/merge',
    GITHUB_REF_NAME: '7/merge',
    GITHUB_REF_TYPE: 'branch',
    GITHUB_HEAD_REF: 'feat/cart',
    GITHUB_BASE_REF: 'main',
  };

  test('a pull request is reported with its head, not the merge commit', () => {
    const event = {
      number: 7,
      pull_request: { number: 7, head: { ref: 'feat/cart', sha: 'c0ffee' }, base: { ref: 'main' } },
    };
    expect(detectCi(PULL, event)).toMatchObject({
      commit: 'c0ffee',
      branch: 'feat/cart',
      pullRequest: 7,
      baseRef: 'main',
    });
  });

  test('a pull request is recognised without the event file', () => {
    expect(detectCi(PULL)).toMatchObject({
      branch: 'feat/cart',
      pullRequest: 7,
      baseRef: 'main',
      commit: GITHUB.GITHUB_SHA,
    });
  });

  test('pull_request_target runs on the base, but is reported as the pull request', () => {
    const env = { ...PULL, GITHUB_REF: 'refs/heads/main', GITHUB_REF_NAME: 'main' };
    const event = { pull_request: { number: 7, head: { ref: 'feat/cart', sha: 'c0ffee' }, base: { ref: 'main' } } };
    expect(detectCi(env, event)).toMatchObject({ commit: 'c0ffee', branch: 'feat/cart', pullRequest: 7 });
  });

  test('a merge queue is reported as its branch, not as a pull request', () => {
    const env = { ...GITHUB, GITHUB_REF: 'refs/heads/gh-readonly-queue/main/pr-7-abc', GITHUB_REF_TYPE: 'branch' };
    expect(detectCi(env, { merge_group: {} })).toMatchObject({
      branch: 'gh-readonly-queue/main/pr-7-abc',
      pullRequest: undefined,
    });
  });

  test('a tag is not a branch', () => {
    const env = { ...GITHUB, GITHUB_REF: 'refs/tags/v1', GITHUB_REF_NAME: 'v1', GITHUB_REF_TYPE: 'tag' };
    expect(detectCi(env).branch).toBeUndefined();
  });

  test('an invalid event file is ignored', () => {
    for (const event of [undefined, null, 'x', [], { pull_request: 'x' }])
      expect(detectCi({ ...GITHUB, GITHUB_REF: 'refs/heads/main' }, event).branch).toBe('main');
  });
});

describe('GitLab CI', () => {
  const GITLAB = {
    GITLAB_CI: 'true',
    CI_PROJECT_PATH: 'acme/shop',
    CI_PIPELINE_ID: '900',
    CI_JOB_ID: '50',
    CI_JOB_NAME: 'unit 2/3',
    CI_NODE_INDEX: '2',
    CI_NODE_TOTAL: '3',
    CI_COMMIT_SHA: 'abc',
    CI_COMMIT_BRANCH: 'main',
    CI_DEFAULT_BRANCH: 'main',
  };

  test('a part of a parallel job has the job’s name and its own number', () => {
    expect(said(detectCi(GITLAB))).toEqual({
      provider: 'GitLab CI',
      owner: 'acme',
      repository: 'shop',
      pipelineName: 'GitLab CI',
      jobName: 'unit',
      runId: '50',
      commit: 'abc',
      branch: 'main',
      defaultBranch: 'main',
      shard: '2',
      place: { shard: '2' },
    });
  });

  test('a merge request', () => {
    const { CI_COMMIT_BRANCH: _, ...env } = GITLAB;
    const merge = {
      CI_MERGE_REQUEST_IID: '12',
      CI_MERGE_REQUEST_SOURCE_BRANCH_NAME: 'feat',
      CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
      CI_MERGE_REQUEST_SOURCE_BRANCH_SHA: '',
    };
    expect(detectCi({ ...env, ...merge })).toMatchObject({
      branch: 'feat',
      pullRequest: 12,
      baseRef: 'main',
      commit: 'abc',
    });
  });

  test('subgroups are joined into the repository’s name', () => {
    expect(detectCi({ ...GITLAB, CI_PROJECT_PATH: 'acme/web/shop' })).toMatchObject({
      owner: 'acme',
      repository: 'web.shop',
    });
  });

  test('a name that only looks like a part is kept in a job that is not parallel', () => {
    const { CI_NODE_INDEX: _, ...env } = GITLAB;
    expect(detectCi({ ...env, CI_NODE_TOTAL: '1' })).toMatchObject({ jobName: 'unit 2/3', shard: undefined });
  });
});

describe('Jenkins', () => {
  const JENKINS = {
    JENKINS_URL: 'https://ci.acme.example/',
    BUILD_NUMBER: '31',
    GIT_COMMIT: 'abc',
    STAGE_NAME: 'Unit tests',
  };

  test('a multibranch pipeline is one pipeline for all branches', () => {
    const env = { ...JENKINS, JOB_NAME: 'acme/shop/feat%2Fcart', GIT_URL: 'git@github.com:acme/shop.git' };
    const pull = { BRANCH_NAME: 'PR-7', CHANGE_ID: '7', CHANGE_BRANCH: 'feat/cart', CHANGE_TARGET: 'main' };
    expect(said(detectCi({ ...env, ...pull }))).toEqual({
      provider: 'Jenkins',
      owner: 'acme',
      repository: 'shop',
      pipelineName: 'acme/shop',
      jobName: 'Unit tests',
      runId: '31',
      commit: 'abc',
      branch: 'feat/cart',
      pullRequest: 7,
      baseRef: 'main',
    });
    expect(detectCi({ ...env, BRANCH_NAME: 'main', BRANCH_IS_PRIMARY: 'true' })).toMatchObject({
      pipelineName: 'acme/shop',
      branch: 'main',
      defaultBranch: 'main',
    });
  });

  test('a freestyle job has its remote’s name in the branch', () => {
    const env = {
      ...JENKINS,
      STAGE_NAME: '',
      JOB_NAME: 'nightly',
      GIT_BRANCH: 'origin/main',
      GIT_URL: 'https://bot@git.acme.example/acme/shop',
    };
    expect(detectCi(env)).toMatchObject({
      branch: 'main',
      pipelineName: 'nightly',
      jobName: 'nightly',
      owner: 'acme',
      repository: 'shop',
    });
  });
});

describe('Buildkite', () => {
  const BUILDKITE = {
    BUILDKITE: 'true',
    BUILDKITE_REPO: 'git@github.com:acme/shop.git',
    BUILDKITE_PIPELINE_NAME: 'Shop',
    BUILDKITE_PIPELINE_SLUG: 'shop',
    BUILDKITE_LABEL: ':hammer: Unit',
    BUILDKITE_STEP_KEY: 'unit',
    BUILDKITE_BUILD_ID: '0184990a',
    BUILDKITE_RETRY_COUNT: '1',
    BUILDKITE_COMMIT: 'abc',
    BUILDKITE_BRANCH: 'main',
    BUILDKITE_PULL_REQUEST: 'false',
    BUILDKITE_PULL_REQUEST_BASE_BRANCH: '',
    BUILDKITE_PIPELINE_DEFAULT_BRANCH: 'main',
    BUILDKITE_PARALLEL_JOB: '0',
    BUILDKITE_PARALLEL_JOB_COUNT: '4',
  };

  test('a retried part of a parallel step', () => {
    expect(said(detectCi(BUILDKITE))).toEqual({
      provider: 'Buildkite',
      owner: 'acme',
      repository: 'shop',
      pipelineName: 'Shop',
      jobName: 'unit',
      runId: '0184990a',
      runAttempt: 2,
      commit: 'abc',
      branch: 'main',
      defaultBranch: 'main',
      shard: '0',
      place: { shard: '0' },
    });
  });

  test('a pull request', () => {
    const env = {
      ...BUILDKITE,
      BUILDKITE_BRANCH: 'feat',
      BUILDKITE_PULL_REQUEST: '7',
      BUILDKITE_PULL_REQUEST_BASE_BRANCH: 'main',
    };
    expect(detectCi(env)).toMatchObject({ branch: 'feat', pullRequest: 7, baseRef: 'main' });
  });
});

describe('CircleCI', () => {
  const CIRCLE = {
    CIRCLECI: 'true',
    CIRCLE_PROJECT_USERNAME: 'acme',
    CIRCLE_PROJECT_REPONAME: 'shop',
    CIRCLE_JOB: 'unit',
    CIRCLE_WORKFLOW_ID: '6bd2',
    CIRCLE_BUILD_NUM: '77',
    CIRCLE_SHA1: 'abc',
    CIRCLE_BRANCH: 'feat',
    CIRCLE_PULL_REQUEST: 'https://github.com/acme/shop/pull/7',
    CIRCLE_NODE_INDEX: '3',
    CIRCLE_NODE_TOTAL: '4',
  };

  test('a container of a job for a pull request', () => {
    expect(said(detectCi(CIRCLE))).toEqual({
      provider: 'CircleCI',
      owner: 'acme',
      repository: 'shop',
      pipelineName: 'CircleCI',
      jobName: 'unit',
      runId: '6bd2',
      commit: 'abc',
      branch: 'feat',
      pullRequest: 7,
      shard: '3',
      place: { shard: '3' },
    });
  });

  test('a pull request from a fork names no branch', () => {
    expect(detectCi({ ...CIRCLE, CIRCLE_BRANCH: 'pull/7', CIRCLE_PR_NUMBER: '7' })).toMatchObject({
      branch: undefined,
      pullRequest: 7,
    });
  });

  test('a job on one machine has no parts', () => {
    expect(detectCi({ ...CIRCLE, CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '1' }).shard).toBeUndefined();
  });
});

describe('Azure Pipelines', () => {
  const AZURE = {
    TF_BUILD: 'True',
    BUILD_REPOSITORY_NAME: 'acme/shop',
    BUILD_DEFINITIONNAME: 'CI',
    SYSTEM_JOBNAME: 'unit',
    BUILD_BUILDID: '815',
    SYSTEM_JOBATTEMPT: '1',
    BUILD_SOURCEVERSION: 'merge',
    BUILD_SOURCEBRANCH: 'refs/pull/7/merge',
    SYSTEM_PULLREQUEST_SOURCEBRANCH: 'refs/heads/feat',
    SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main',
    SYSTEM_PULLREQUEST_SOURCECOMMITID: 'abc',
    SYSTEM_PULLREQUEST_PULLREQUESTNUMBER: '7',
    SYSTEM_PULLREQUEST_PULLREQUESTID: '123456',
  };

  test('a pull request on GitHub', () => {
    expect(said(detectCi(AZURE))).toEqual({
      provider: 'Azure Pipelines',
      owner: 'acme',
      repository: 'shop',
      pipelineName: 'CI',
      jobName: 'unit',
      runId: '815',
      runAttempt: 1,
      commit: 'abc',
      branch: 'feat',
      pullRequest: 7,
      baseRef: 'main',
    });
  });

  test('a branch in Azure Repos: the organisation is the owner', () => {
    const env = {
      TF_BUILD: 'True',
      BUILD_REPOSITORY_NAME: 'shop',
      SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/',
      BUILD_SOURCEBRANCH: 'refs/heads/main',
    };
    expect(detectCi(env)).toMatchObject({ owner: 'acme', repository: 'shop', branch: 'main', pullRequest: undefined });
  });
});

test('Bitbucket Pipelines: a rerun step of a pull request', () => {
  const env = {
    BITBUCKET_BUILD_NUMBER: '40',
    BITBUCKET_REPO_FULL_NAME: 'acme/shop',
    BITBUCKET_STEP_RUN_NUMBER: '2',
    BITBUCKET_COMMIT: 'abc',
    BITBUCKET_BRANCH: 'feat',
    BITBUCKET_PR_ID: '7',
    BITBUCKET_PR_DESTINATION_BRANCH: 'main',
    BITBUCKET_PARALLEL_STEP: '1',
    BITBUCKET_PARALLEL_STEP_COUNT: '2',
  };
  expect(said(detectCi(env))).toEqual({
    provider: 'Bitbucket Pipelines',
    owner: 'acme',
    repository: 'shop',
    pipelineName: 'Bitbucket Pipelines',
    runId: '40',
    runAttempt: 2,
    commit: 'abc',
    branch: 'feat',
    pullRequest: 7,
    baseRef: 'main',
    shard: '1',
    place: { shard: '1' },
    jobUrl: 'https://bitbucket.org/acme/shop/pipelines/results/40',
  });
});

test('Travis CI: TRAVIS_BRANCH is the target of a pull request and the branch of a push', () => {
  const push = {
    TRAVIS: 'true',
    TRAVIS_REPO_SLUG: 'acme/shop',
    TRAVIS_JOB_ID: '9',
    TRAVIS_JOB_NAME: 'unit',
    TRAVIS_BRANCH: 'main',
    TRAVIS_COMMIT: 'abc',
    TRAVIS_PULL_REQUEST: 'false',
  };
  expect(detectCi(push)).toMatchObject({ branch: 'main', pullRequest: undefined, commit: 'abc', runId: '9' });
  const pull = {
    ...push,
    TRAVIS_PULL_REQUEST: '7',
    TRAVIS_PULL_REQUEST_BRANCH: 'feat',
    TRAVIS_PULL_REQUEST_SHA: 'def',
  };
  expect(detectCi(pull)).toMatchObject({ branch: 'feat', pullRequest: 7, baseRef: 'main', commit: 'def' });
});

describe('the page of the job', () => {
  const BUILDKITE_BUILD_URL = 'https://buildkite.com/acme/shop/builds/4';
  test.each<[string, Record<string, string>, string]>([
    [
      'GitHub Actions, of the attempt',
      { ...GITHUB, GITHUB_SERVER_URL: 'https://github.com' },
      'https://github.com/acme/shop/actions/runs/1658821493/attempts/2',
    ],
    [
      'GitLab CI',
      { GITLAB_CI: 'true', CI_JOB_URL: 'https://gitlab.com/acme/shop/-/jobs/50' },
      'https://gitlab.com/acme/shop/-/jobs/50',
    ],
    ['Jenkins', { JENKINS_URL: 'x', BUILD_URL: 'http://ci:8080/job/shop/31/' }, 'http://ci:8080/job/shop/31/'],
    ['Buildkite', { BUILDKITE: 'true', BUILDKITE_BUILD_URL, BUILDKITE_JOB_ID: '01a' }, `${BUILDKITE_BUILD_URL}#01a`],
    [
      'CircleCI',
      { CIRCLECI: 'true', CIRCLE_BUILD_URL: 'https://circleci.com/gh/acme/shop/77' },
      'https://circleci.com/gh/acme/shop/77',
    ],
    [
      'Azure Pipelines',
      {
        TF_BUILD: 'True',
        SYSTEM_COLLECTIONURI: 'https://dev.azure.com/acme/',
        SYSTEM_TEAMPROJECT: 'My shop',
        BUILD_BUILDID: '815',
        SYSTEM_JOBID: '12f1',
      },
      'https://dev.azure.com/acme/My%20shop/_build/results?buildId=815&view=logs&j=12f1',
    ],
    [
      'Travis CI',
      { TRAVIS: 'true', TRAVIS_JOB_WEB_URL: 'https://app.travis-ci.com/acme/shop/jobs/9' },
      'https://app.travis-ci.com/acme/shop/jobs/9',
    ],
  ])('%s', (_, env, url) => {
    expect(detectCi(env).jobUrl).toBe(url);
  });

  test.each([
    'unconfigured-jenkins-location/job/shop/31/',
    'ssh://ci/job/1',
    'https://bot:secret@ci.acme.example/job/1',
    'https://ci.acme.example/job/a b',
    `https://ci.acme.example/${'x'.repeat(2_048)}`,
  ])('is not sent unless it is a link: %p', (BUILD_URL) => {
    expect(detectCi({ JENKINS_URL: 'https://ci.acme.example/', BUILD_URL }).jobUrl).toBeUndefined();
  });
});

test('outside CI nothing is known', () => {
  expect(said(detectCi({ CI: 'true', HOME: '/root' }))).toEqual({ provider: 'no CI provider' });
});
