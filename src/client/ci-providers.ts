/**
 * One function per CI provider: from its documented variables to a {@link RunInfo}. `ci-github.ts` has that of GitHub.
 *
 * Two things matter for correct counts. A retried job must differ in run id or attempt, or its results look like a
 * resent upload. And the name of a job must not contain the number of a part, or a test that moves to another machine
 * would get a new identity.
 */
import { axesFrom, systemOf, UNNAMED_AXIS } from './ci-axes.ts';
import {
  addressOf,
  branchOf,
  type Environment,
  NOTHING,
  pathOf,
  pathOfCloneUrl,
  pullRequestOf,
  pullRequestOfRef,
  type RunInfo,
  shardOf,
  wholeOf,
} from './run-info.ts';

/**
 * A retried job has the same pipeline id and no attempt; only its job id differs.
 *
 * The pipeline of a merge request from a fork may run in the fork; the number of a merge request is that of the project
 * that it is for. A merge train tests a merge request together with those before it: with its own commit, or a failure
 * of another one would contradict a pass of this one.
 */
export function gitlab(env: Environment): RunInfo {
  const isTrain = env.CI_MERGE_REQUEST_EVENT_TYPE === 'merge_train';
  const mergeRequest = wholeOf(env.CI_MERGE_REQUEST_IID);
  // `parallel: 3` names its jobs "unit 1/3", `parallel:matrix` "unit: [3.13, linux]": the values, without their names.
  const [, matrixJob, matrix] = (env.CI_NODE_INDEX && /^(.+?): \[(.+)\]$/.exec(env.CI_JOB_NAME ?? '')) || [];
  return {
    ...NOTHING,
    provider: 'GitLab CI',
    ...pathOf(
      mergeRequest === undefined ? env.CI_PROJECT_PATH : (env.CI_MERGE_REQUEST_PROJECT_PATH ?? env.CI_PROJECT_PATH),
    ),
    pipelineName: env.CI_PIPELINE_NAME ?? 'GitLab CI',
    jobName: matrixJob ?? (env.CI_NODE_INDEX ? env.CI_JOB_NAME?.replace(/ \d+\/\d+$/, '') : env.CI_JOB_NAME),
    axes: axesFrom({ [UNNAMED_AXIS]: matrix }),
    place: axesFrom({ runner: env.CI_RUNNER_DESCRIPTION ?? env.CI_RUNNER_ID }),
    runId: env.CI_JOB_ID,
    // Empty unless the pipeline tests the result of the merge.
    commit:
      (isTrain ? undefined : env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA) ??
      env.CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_SHA ??
      env.CI_COMMIT_SHA,
    branch:
      env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME ??
      env.CI_EXTERNAL_PULL_REQUEST_SOURCE_BRANCH_NAME ??
      env.CI_COMMIT_BRANCH,
    pullRequest: mergeRequest ?? wholeOf(env.CI_EXTERNAL_PULL_REQUEST_IID),
    baseRef: env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME ?? env.CI_EXTERNAL_PULL_REQUEST_TARGET_BRANCH_NAME,
    defaultBranch: env.CI_DEFAULT_BRANCH,
    shard: matrix === undefined ? shardOf(env.CI_NODE_INDEX, env.CI_NODE_TOTAL) : undefined,
    jobUrl: addressOf(env.CI_JOB_URL),
  };
}

/**
 * In a multibranch project, JOB_NAME ends with the branch, which is not part of the pipeline's name. In others, the plugins
 * that build pull requests name them; the branch of Git may then be the one that the change was merged into. The jobs of a
 * matrix project are called `shop/label=linux,python=3.13`.
 */
export function jenkins(env: Environment): RunInfo {
  const isMultibranch = env.BRANCH_NAME !== undefined && env.JOB_NAME?.includes('/');
  const [, project, combination] = /^(.+)\/([^/=,]+=[^/]*)$/.exec(isMultibranch ? '' : (env.JOB_NAME ?? '')) ?? [];
  const pipelineName = isMultibranch
    ? env.JOB_NAME?.slice(0, env.JOB_NAME.lastIndexOf('/'))
    : (project ?? env.JOB_NAME);
  const pullRequest =
    pullRequestOf(env.CHANGE_ID) ?? pullRequestOf(env.ghprbPullId) ?? pullRequestOf(env.gitlabMergeRequestIid);
  const isPull = pullRequest !== undefined;
  const sourceBranch = env.CHANGE_BRANCH ?? env.ghprbSourceBranch ?? (isPull ? env.gitlabSourceBranch : undefined);
  const branch = sourceBranch || (env.BRANCH_NAME ?? branchOf(env.GIT_BRANCH)?.replace(/^origin\//, ''));
  return {
    ...NOTHING,
    provider: 'Jenkins',
    ...pathOfCloneUrl(env.GIT_URL ?? env.GIT_URL_1),
    pipelineName,
    jobName: env.STAGE_NAME ?? pipelineName,
    axes: axesFrom(Object.fromEntries((combination ?? '').split(',').map(pairOf))),
    place: axesFrom({ runner: env.NODE_NAME }),
    runId: env.BUILD_NUMBER,
    commit: env.ghprbActualCommit ?? (isPull ? env.gitlabMergeRequestLastCommit : undefined) ?? env.GIT_COMMIT,
    branch,
    pullRequest,
    baseRef: env.CHANGE_TARGET ?? env.ghprbTargetBranch ?? (isPull ? env.gitlabTargetBranch : undefined),
    defaultBranch: env.BRANCH_IS_PRIMARY === 'true' ? branch : undefined,
    jobUrl: addressOf(env.BUILD_URL),
  };
}

/** `label=linux` */
function pairOf(text: string): [name: string, value: string] {
  const [name = '', ...rest] = text.split('=');
  return [name, rest.join('=')];
}

export function buildkite(env: Environment): RunInfo {
  const pullRequest = pullRequestOf(env.BUILDKITE_PULL_REQUEST);
  const retries = wholeOf(env.BUILDKITE_RETRY_COUNT);
  return {
    ...NOTHING,
    provider: 'Buildkite',
    ...pathOfCloneUrl(env.BUILDKITE_REPO),
    pipelineName: env.BUILDKITE_PIPELINE_NAME ?? env.BUILDKITE_PIPELINE_SLUG,
    jobName: env.BUILDKITE_STEP_KEY ?? env.BUILDKITE_LABEL,
    // Tags of the agent, by custom.
    axes: axesFrom({ os: systemOf(env.BUILDKITE_AGENT_META_DATA_OS), arch: env.BUILDKITE_AGENT_META_DATA_ARCH }),
    place: axesFrom({ runner: env.BUILDKITE_AGENT_NAME }),
    runId: env.BUILDKITE_BUILD_ID ?? env.BUILDKITE_BUILD_NUMBER,
    runAttempt: retries === undefined ? undefined : retries + 1,
    // A build may be started for a ref; "HEAD" is not a commit.
    commit: env.BUILDKITE_COMMIT === 'HEAD' ? undefined : env.BUILDKITE_COMMIT,
    branch: env.BUILDKITE_TAG ? undefined : env.BUILDKITE_BRANCH,
    pullRequest,
    baseRef: pullRequest === undefined ? env.BUILDKITE_MERGE_QUEUE_BASE_BRANCH : env.BUILDKITE_PULL_REQUEST_BASE_BRANCH,
    defaultBranch: env.BUILDKITE_PIPELINE_DEFAULT_BRANCH,
    shard: shardOf(env.BUILDKITE_PARALLEL_JOB, env.BUILDKITE_PARALLEL_JOB_COUNT),
    jobUrl: addressOf(
      env.BUILDKITE_BUILD_URL && `${env.BUILDKITE_BUILD_URL}${env.BUILDKITE_JOB_ID ? `#${env.BUILDKITE_JOB_ID}` : ''}`,
    ),
  };
}

/** The environment does not name the workflow. A rerun is a new workflow with another id. */
export function circleci(env: Environment): RunInfo {
  // The branch of a pull request from a fork, whose own name is not told.
  const fork = /^pull\/(\d+)$/.exec(env.CIRCLE_BRANCH ?? '')?.[1];
  return {
    ...NOTHING,
    provider: 'CircleCI',
    owner: env.CIRCLE_PROJECT_USERNAME,
    repository: env.CIRCLE_PROJECT_REPONAME,
    pipelineName: 'CircleCI',
    jobName: env.CIRCLE_JOB,
    runId: env.CIRCLE_WORKFLOW_ID ?? env.CIRCLE_BUILD_NUM,
    commit: env.CIRCLE_SHA1,
    branch: fork === undefined ? env.CIRCLE_BRANCH : undefined,
    pullRequest: pullRequestOf(env.CIRCLE_PR_NUMBER) ?? pullRequestOf(env.CIRCLE_PULL_REQUEST) ?? pullRequestOf(fork),
    shard: shardOf(env.CIRCLE_NODE_INDEX, env.CIRCLE_NODE_TOTAL),
    jobUrl: addressOf(env.CIRCLE_BUILD_URL),
  };
}

/** The jobs of a strategy have separate names; that of the job in the file is the phase's. */
export function azure(env: Environment): RunInfo {
  const path = env.BUILD_REPOSITORY_NAME?.includes('/')
    ? pathOf(env.BUILD_REPOSITORY_NAME)
    : { owner: organizationOf(env.SYSTEM_COLLECTIONURI), repository: env.BUILD_REPOSITORY_NAME };
  const type = env.SYSTEM_PARALLELEXECUTIONTYPE;
  const isSplit = type === 'MultiConfiguration' || type === 'MultiMachine';
  const isMatrix = type === 'MultiConfiguration' && (wholeOf(env.SYSTEM_TOTALJOBSINPHASE) ?? 0) > 1;
  return {
    ...NOTHING,
    provider: 'Azure Pipelines',
    ...path,
    pipelineName: env.BUILD_DEFINITIONNAME,
    jobName: (isSplit ? env.SYSTEM_PHASENAME : undefined) ?? env.SYSTEM_JOBNAME ?? env.AGENT_JOBNAME,
    axes: axesFrom({
      os: systemOf(env.AGENT_OS),
      arch: env.AGENT_OSARCHITECTURE?.toLowerCase(),
      [UNNAMED_AXIS]: isMatrix ? env.SYSTEM_JOBNAME : undefined,
    }),
    place: axesFrom({ runner: env.AGENT_NAME }),
    runId: env.BUILD_BUILDID,
    runAttempt: wholeOf(env.SYSTEM_JOBATTEMPT),
    commit: env.SYSTEM_PULLREQUEST_SOURCECOMMITID ?? env.BUILD_SOURCEVERSION,
    branch: branchOf(env.SYSTEM_PULLREQUEST_SOURCEBRANCH) ?? branchOf(env.BUILD_SOURCEBRANCH),
    pullRequest:
      pullRequestOf(env.SYSTEM_PULLREQUEST_PULLREQUESTNUMBER) ??
      pullRequestOf(env.SYSTEM_PULLREQUEST_PULLREQUESTID) ??
      pullRequestOfRef(env.BUILD_SOURCEBRANCH),
    baseRef: branchOf(env.SYSTEM_PULLREQUEST_TARGETBRANCH),
    shard: isMatrix ? undefined : shardOf(env.SYSTEM_JOBPOSITIONINPHASE, env.SYSTEM_TOTALJOBSINPHASE),
    jobUrl: azureUrl(env),
  };
}

function azureUrl(env: Environment): string | undefined {
  const { SYSTEM_COLLECTIONURI: collection, SYSTEM_TEAMPROJECT: project, BUILD_BUILDID: build } = env;
  if (!collection || !project || !build) return undefined;
  const job = env.SYSTEM_JOBID === undefined ? '' : `&view=logs&j=${env.SYSTEM_JOBID}`;
  return addressOf(
    `${collection.replace(/\/$/, '')}/${encodeURIComponent(project)}/_build/results?buildId=${build}${job}`,
  );
}

/** `https://dev.azure.com/acme/` and `https://acme.visualstudio.com/` → `acme`. */
const organizationOf = (url: string | undefined): string | undefined =>
  /^https:\/\/(?:dev\.azure\.com\/([^/]+)|([^.]+)\.visualstudio\.com)/
    .exec(url ?? '')
    ?.slice(1)
    .find(Boolean);

/** Names neither the pipeline nor the step. */
export function bitbucket(env: Environment): RunInfo {
  return {
    ...NOTHING,
    provider: 'Bitbucket Pipelines',
    ...pathOf(env.BITBUCKET_REPO_FULL_NAME),
    pipelineName: 'Bitbucket Pipelines',
    runId: env.BITBUCKET_BUILD_NUMBER,
    runAttempt: wholeOf(env.BITBUCKET_STEP_RUN_NUMBER),
    commit: env.BITBUCKET_COMMIT,
    branch: env.BITBUCKET_BRANCH,
    pullRequest: wholeOf(env.BITBUCKET_PR_ID),
    baseRef: env.BITBUCKET_PR_DESTINATION_BRANCH,
    shard: shardOf(env.BITBUCKET_PARALLEL_STEP, env.BITBUCKET_PARALLEL_STEP_COUNT),
    jobUrl:
      env.BITBUCKET_REPO_FULL_NAME && env.BITBUCKET_BUILD_NUMBER
        ? `https://bitbucket.org/${env.BITBUCKET_REPO_FULL_NAME}/pipelines/results/${env.BITBUCKET_BUILD_NUMBER}`
        : undefined,
  };
}

/** Their versions are in variables such as TRAVIS_PYTHON_VERSION. */
const TRAVIS_LANGUAGES = 'dart go jdk julia node perl php python r ruby rust scala'.split(' ');

/** For a pull request, TRAVIS_BRANCH is its target; for a tag build, the tag. */
export function travis(env: Environment): RunInfo {
  const pullRequest = wholeOf(env.TRAVIS_PULL_REQUEST);
  return {
    ...NOTHING,
    provider: 'Travis CI',
    ...pathOf(env.TRAVIS_REPO_SLUG),
    pipelineName: 'Travis CI',
    jobName: env.TRAVIS_JOB_NAME ?? env.TRAVIS_BUILD_STAGE_NAME,
    axes: axesFrom({
      os: systemOf(env.TRAVIS_OS_NAME),
      arch: env.TRAVIS_CPU_ARCH,
      ...Object.fromEntries(TRAVIS_LANGUAGES.map((name) => [name, env[`TRAVIS_${name.toUpperCase()}_VERSION`]])),
    }),
    runId: env.TRAVIS_JOB_ID ?? env.TRAVIS_BUILD_ID,
    commit: env.TRAVIS_PULL_REQUEST_SHA ?? env.TRAVIS_COMMIT,
    branch: pullRequest !== undefined ? env.TRAVIS_PULL_REQUEST_BRANCH : env.TRAVIS_TAG ? undefined : env.TRAVIS_BRANCH,
    pullRequest,
    baseRef: pullRequest === undefined ? undefined : env.TRAVIS_BRANCH,
    jobUrl: addressOf(env.TRAVIS_JOB_WEB_URL),
  };
}
