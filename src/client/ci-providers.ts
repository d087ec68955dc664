/**
 * One function per CI provider: from its documented variables to a {@link RunInfo}.
 *
 * Two things matter for correct counts. A retried job must differ in run id or attempt, or its results look like a
 * resent upload. And the name of a job must not contain the number of a part, or a test that moves to another machine
 * would get a new identity.
 */
import { z } from 'zod';
import {
  addressOf,
  branchOf,
  type Environment,
  NOTHING,
  pathOf,
  pathOfCloneUrl,
  pullRequestOf,
  type RunInfo,
  shardOf,
  wholeOf,
} from './run-info.ts';

/** The relevant parts of the event that GitHub describes in the file at GITHUB_EVENT_PATH. */
const githubEventSchema = z.object({
  number: z.number().optional(),
  repository: z.object({ default_branch: z.string().optional() }).optional(),
  pull_request: z
    .object({
      number: z.number().optional(),
      head: z.object({ ref: z.string().optional(), sha: z.string().optional() }).optional(),
      base: z.object({ ref: z.string().optional() }).optional(),
    })
    .optional(),
});

/** A pull request runs on a temporary merge commit; its head is reported as the tested commit. */
export function githubActions(env: Environment, event: unknown): RunInfo {
  const parsed = githubEventSchema.safeParse(event);
  const { pull_request: pull, repository, number } = parsed.success ? parsed.data : {};
  const isPull = pull !== undefined || Boolean(env.GITHUB_HEAD_REF);
  const fromRef = /^refs\/pull\/(\d+)\//.exec(env.GITHUB_REF ?? '')?.[1];
  return {
    ...NOTHING,
    provider: 'GitHub Actions',
    ...pathOf(env.GITHUB_REPOSITORY),
    pipelineName: env.GITHUB_WORKFLOW,
    jobName: env.GITHUB_JOB,
    runId: env.GITHUB_RUN_ID,
    runAttempt: wholeOf(env.GITHUB_RUN_ATTEMPT),
    commit: pull?.head?.sha ?? env.GITHUB_SHA,
    branch: isPull
      ? (pull?.head?.ref ?? env.GITHUB_HEAD_REF)
      : env.GITHUB_REF_TYPE === 'tag'
        ? undefined
        : (branchOf(env.GITHUB_REF) ?? env.GITHUB_REF_NAME),
    pullRequest: pull?.number ?? (isPull ? (number ?? pullRequestOf(fromRef)) : undefined),
    baseRef: pull?.base?.ref ?? env.GITHUB_BASE_REF,
    defaultBranch: repository?.default_branch,
    jobUrl: githubUrl(env),
  };
}

/** The page of the attempt: the environment does not name the job by the id that its own page has. */
function githubUrl(env: Environment): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT } = env;
  if (!server || !repository || !run) return undefined;
  const attempt = wholeOf(GITHUB_RUN_ATTEMPT);
  return addressOf(`${server}/${repository}/actions/runs/${run}${attempt === undefined ? '' : `/attempts/${attempt}`}`);
}

/** A retried job has the same pipeline id and no attempt; only its job id differs. */
export function gitlab(env: Environment): RunInfo {
  return {
    ...NOTHING,
    provider: 'GitLab CI',
    ...pathOf(env.CI_PROJECT_PATH),
    pipelineName: env.CI_PIPELINE_NAME ?? 'GitLab CI',
    // `parallel: 3` names its jobs "unit 1/3".
    jobName: env.CI_NODE_INDEX ? env.CI_JOB_NAME?.replace(/ \d+\/\d+$/, '') : env.CI_JOB_NAME,
    runId: env.CI_JOB_ID,
    commit: env.CI_MERGE_REQUEST_SOURCE_BRANCH_SHA ?? env.CI_COMMIT_SHA,
    branch: env.CI_MERGE_REQUEST_SOURCE_BRANCH_NAME ?? env.CI_COMMIT_BRANCH,
    pullRequest: wholeOf(env.CI_MERGE_REQUEST_IID),
    baseRef: env.CI_MERGE_REQUEST_TARGET_BRANCH_NAME,
    defaultBranch: env.CI_DEFAULT_BRANCH,
    shard: shardOf(env.CI_NODE_INDEX, env.CI_NODE_TOTAL),
    jobUrl: addressOf(env.CI_JOB_URL),
  };
}

/** In a multibranch project, JOB_NAME ends with the branch, which is not part of the pipeline's name. */
export function jenkins(env: Environment): RunInfo {
  const isMultibranch = env.BRANCH_NAME !== undefined && env.JOB_NAME?.includes('/');
  const pipelineName = isMultibranch ? env.JOB_NAME?.slice(0, env.JOB_NAME.lastIndexOf('/')) : env.JOB_NAME;
  const branch = env.CHANGE_BRANCH ?? env.BRANCH_NAME ?? branchOf(env.GIT_BRANCH)?.replace(/^origin\//, '');
  return {
    ...NOTHING,
    provider: 'Jenkins',
    ...pathOfCloneUrl(env.GIT_URL ?? env.GIT_URL_1),
    pipelineName,
    jobName: env.STAGE_NAME ?? pipelineName,
    runId: env.BUILD_NUMBER,
    commit: env.GIT_COMMIT,
    branch,
    pullRequest: wholeOf(env.CHANGE_ID),
    baseRef: env.CHANGE_TARGET,
    defaultBranch: env.BRANCH_IS_PRIMARY === 'true' ? branch : undefined,
    jobUrl: addressOf(env.BUILD_URL),
  };
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
    runId: env.BUILDKITE_BUILD_ID ?? env.BUILDKITE_BUILD_NUMBER,
    runAttempt: retries === undefined ? undefined : retries + 1,
    // A build may be started for a ref; "HEAD" is not a commit.
    commit: env.BUILDKITE_COMMIT === 'HEAD' ? undefined : env.BUILDKITE_COMMIT,
    branch: env.BUILDKITE_TAG ? undefined : env.BUILDKITE_BRANCH,
    pullRequest,
    baseRef: pullRequest === undefined ? undefined : env.BUILDKITE_PULL_REQUEST_BASE_BRANCH,
    defaultBranch: env.BUILDKITE_PIPELINE_DEFAULT_BRANCH,
    shard: shardOf(env.BUILDKITE_PARALLEL_JOB, env.BUILDKITE_PARALLEL_JOB_COUNT),
    jobUrl: addressOf(
      env.BUILDKITE_BUILD_URL && `${env.BUILDKITE_BUILD_URL}${env.BUILDKITE_JOB_ID ? `#${env.BUILDKITE_JOB_ID}` : ''}`,
    ),
  };
}

/** The environment does not name the workflow. A rerun is a new workflow with another id. */
export function circleci(env: Environment): RunInfo {
  return {
    ...NOTHING,
    provider: 'CircleCI',
    owner: env.CIRCLE_PROJECT_USERNAME,
    repository: env.CIRCLE_PROJECT_REPONAME,
    pipelineName: 'CircleCI',
    jobName: env.CIRCLE_JOB,
    runId: env.CIRCLE_WORKFLOW_ID ?? env.CIRCLE_BUILD_NUM,
    commit: env.CIRCLE_SHA1,
    branch: env.CIRCLE_BRANCH?.replace(/^pull\/\d+$/, '') || undefined,
    pullRequest: pullRequestOf(env.CIRCLE_PR_NUMBER) ?? pullRequestOf(env.CIRCLE_PULL_REQUEST),
    shard: shardOf(env.CIRCLE_NODE_INDEX, env.CIRCLE_NODE_TOTAL),
    jobUrl: addressOf(env.CIRCLE_BUILD_URL),
  };
}

export function azure(env: Environment): RunInfo {
  const path = env.BUILD_REPOSITORY_NAME?.includes('/')
    ? pathOf(env.BUILD_REPOSITORY_NAME)
    : { owner: organizationOf(env.SYSTEM_COLLECTIONURI), repository: env.BUILD_REPOSITORY_NAME };
  return {
    ...NOTHING,
    provider: 'Azure Pipelines',
    ...path,
    pipelineName: env.BUILD_DEFINITIONNAME,
    jobName: env.SYSTEM_JOBNAME ?? env.AGENT_JOBNAME,
    runId: env.BUILD_BUILDID,
    runAttempt: wholeOf(env.SYSTEM_JOBATTEMPT),
    commit: env.SYSTEM_PULLREQUEST_SOURCECOMMITID ?? env.BUILD_SOURCEVERSION,
    branch: branchOf(env.SYSTEM_PULLREQUEST_SOURCEBRANCH) ?? branchOf(env.BUILD_SOURCEBRANCH),
    pullRequest:
      pullRequestOf(env.SYSTEM_PULLREQUEST_PULLREQUESTNUMBER) ?? pullRequestOf(env.SYSTEM_PULLREQUEST_PULLREQUESTID),
    baseRef: branchOf(env.SYSTEM_PULLREQUEST_TARGETBRANCH),
    shard: shardOf(env.SYSTEM_JOBPOSITIONINPHASE, env.SYSTEM_TOTALJOBSINPHASE),
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

/** For a pull request, TRAVIS_BRANCH is its target; for a tag build, the tag. */
export function travis(env: Environment): RunInfo {
  const pullRequest = wholeOf(env.TRAVIS_PULL_REQUEST);
  return {
    ...NOTHING,
    provider: 'Travis CI',
    ...pathOf(env.TRAVIS_REPO_SLUG),
    pipelineName: 'Travis CI',
    jobName: env.TRAVIS_JOB_NAME ?? env.TRAVIS_BUILD_STAGE_NAME,
    runId: env.TRAVIS_JOB_ID ?? env.TRAVIS_BUILD_ID,
    commit: env.TRAVIS_PULL_REQUEST_SHA ?? env.TRAVIS_COMMIT,
    branch: pullRequest !== undefined ? env.TRAVIS_PULL_REQUEST_BRANCH : env.TRAVIS_TAG ? undefined : env.TRAVIS_BRANCH,
    pullRequest,
    baseRef: pullRequest === undefined ? undefined : env.TRAVIS_BRANCH,
    jobUrl: addressOf(env.TRAVIS_JOB_WEB_URL),
  };
}
