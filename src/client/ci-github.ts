/**
 * A run of GitHub Actions. GITHUB_REF and GITHUB_SHA say what was tested only in jobs that the tested content started.
 * `workflow_run`, `issue_comment` and the like run on the default branch, whatever they test: stored under its name, a
 * stranger's pull request would fail it.
 */
import { z } from 'zod';
import type { Checkout } from './checkout.ts';
import { axesFrom, systemOf } from './ci-axes.ts';
import {
  addressOf,
  branchOf,
  type Doubt,
  type Environment,
  NOTHING,
  pathOf,
  pullRequestOfRef,
  type RunInfo,
  wholeOf,
} from './run-info.ts';

const pullSchema = z.object({
  number: z.number().optional(),
  head: z.object({ ref: z.string().optional(), sha: z.string().optional() }).optional(),
  base: z.object({ ref: z.string().optional(), repo: z.object({ url: z.string().optional() }).nullish() }).optional(),
});

/** The run that a job of `workflow_run` follows. */
const followedSchema = z.object({
  id: z.number().optional(),
  run_attempt: z.number().optional(),
  name: z.string().nullish(),
  event: z.string().optional(),
  head_branch: z.string().nullish(),
  head_sha: z.string().optional(),
  head_repository: z.object({ full_name: z.string().optional() }).nullish(),
  pull_requests: z.array(pullSchema).nullish(),
  html_url: z.string().optional(),
});

/** The relevant parts of the event that GitHub describes in the file at GITHUB_EVENT_PATH. */
const eventSchema = z.object({
  number: z.number().optional(),
  repository: z.object({ default_branch: z.string().optional() }).optional(),
  pull_request: pullSchema.optional(),
  workflow_run: followedSchema.optional(),
  merge_group: z.object({ base_ref: z.string().optional() }).optional(),
  issue: z.object({ number: z.number().optional(), pull_request: z.unknown() }).optional(),
});
type Event = z.infer<typeof eventSchema>;
type Followed = z.infer<typeof followedSchema>;

/** @param checkout the working copy of the job */
export function githubActions(env: Environment, event: unknown, checkout?: Checkout): RunInfo {
  const parsed = eventSchema.safeParse(event);
  const about: Event = parsed.success ? parsed.data : {};
  const common: RunInfo = {
    ...NOTHING,
    provider: 'GitHub Actions',
    ...pathOf(env.GITHUB_REPOSITORY),
    pipelineName: env.GITHUB_WORKFLOW,
    jobName: env.GITHUB_JOB,
    axes: axesFrom({ os: systemOf(env.RUNNER_OS), arch: env.RUNNER_ARCH?.toLowerCase() }),
    place: axesFrom({ runner: env.RUNNER_NAME }),
    runId: env.GITHUB_RUN_ID,
    runAttempt: wholeOf(env.GITHUB_RUN_ATTEMPT),
    defaultBranch: about.repository?.default_branch,
    jobUrl: urlOf(env),
  };
  const name = env.GITHUB_EVENT_NAME;
  if (name === 'workflow_run') return { ...common, ...afterRun(about.workflow_run ?? {}, env) };
  if (name === 'issue_comment' && about.issue?.pull_request) return { ...common, ...onComment(about) };
  if (ELSEWHERE.has(name ?? '')) return { ...common, doubt: unknownSubject(`an event ${name}`) };
  const isPull = about.pull_request !== undefined || Boolean(env.GITHUB_HEAD_REF) || name?.startsWith('pull_request');
  return { ...common, ...(isPull ? pullOf(about, env) : branchItself(about, env, checkout)) };
}

/** They are about a commit or a run, but their jobs run on the default branch. */
const ELSEWHERE: ReadonlySet<string> = new Set(['check_run', 'check_suite', 'status', 'issue_comment']);

type Subject = Pick<RunInfo, 'commit' | 'branch' | 'pullRequest' | 'baseRef' | 'doubt'>;
const NO_SUBJECT: Subject = {
  commit: undefined,
  branch: undefined,
  pullRequest: undefined,
  baseRef: undefined,
  doubt: undefined,
};

const unknownSubject = (by: string): Doubt => ({
  why: `This job was started by ${by}, and GitHub Actions does not say what it tests`,
  needs: [['commit'], ['branch', 'pullRequest']],
});

/** A pull request runs on a temporary merge commit; its head is reported as the tested commit. */
function pullOf({ pull_request: pull, number }: Event, env: Environment): Subject {
  const pullRequest = pull?.number ?? number ?? pullRequestOfRef(env.GITHUB_REF);
  // The base, which a job of this event runs on, is not what was changed.
  const isOnBase = env.GITHUB_EVENT_NAME === 'pull_request_target';
  const commit = pull?.head?.sha ?? (isOnBase ? undefined : env.GITHUB_SHA);
  const needs: Doubt['needs'] = [
    ...(pullRequest === undefined ? [['pullRequest'] as const] : []),
    ...(commit === undefined ? [['commit'] as const] : []),
  ];
  return {
    commit,
    branch: pull?.head?.ref ?? env.GITHUB_HEAD_REF,
    pullRequest,
    baseRef: pull?.base?.ref ?? env.GITHUB_BASE_REF,
    doubt:
      needs.length > 0 ? { why: 'GitHub Actions does not say all of the pull request of this job', needs } : undefined,
  };
}

/** Events whose job starts on a branch that nothing was pushed to, and often checks out something else. */
const SELF_STARTED: ReadonlySet<string> = new Set(['schedule', 'repository_dispatch', 'workflow_dispatch']);

function branchItself({ merge_group }: Event, env: Environment, checkout: Checkout | undefined): Subject {
  const branch = env.GITHUB_REF_TYPE === 'tag' ? undefined : (branchOf(env.GITHUB_REF) ?? env.GITHUB_REF_NAME);
  const isAtAnother =
    checkout !== undefined &&
    SELF_STARTED.has(env.GITHUB_EVENT_NAME ?? '') &&
    (checkout.branch === undefined ? checkout.commit !== env.GITHUB_SHA : checkout.branch !== branch);
  if (isAtAnother) {
    const at = checkout.branch ?? checkout.commit?.slice(0, 10);
    return {
      ...NO_SUBJECT,
      doubt: {
        why: `This job runs for ${branch ?? env.GITHUB_REF ?? 'the default branch'}, but its working copy is at ${at}`,
        needs: [['commit'], ['branch', 'pullRequest']],
      },
    };
  }
  return { ...NO_SUBJECT, commit: env.GITHUB_SHA, branch, baseRef: branchOf(merge_group?.base_ref) };
}

/** Events of a branch: what their run tested is the head of the branch. */
const OF_A_BRANCH: ReadonlySet<string> = new Set([
  'push',
  'schedule',
  'workflow_dispatch',
  'repository_dispatch',
  'merge_group',
]);

/** The tests ran in the run that this job follows: its name, id and attempt tell it apart, not those of this job. */
function afterRun(run: Followed, env: Environment): Partial<RunInfo> {
  const about: Partial<RunInfo> = {
    // Its machine is not this one.
    axes: {},
    place: {},
    ...(run.name && { pipelineName: run.name }),
    ...(run.id !== undefined && { runId: String(run.id), runAttempt: run.run_attempt }),
    ...(run.html_url !== undefined && { jobUrl: addressOf(run.html_url) }),
  };
  const branch = run.head_branch ?? undefined;
  const fork = run.head_repository?.full_name;
  const isFork = fork !== undefined && fork.toLowerCase() !== env.GITHUB_REPOSITORY?.toLowerCase();
  if (run.head_sha !== undefined && OF_A_BRANCH.has(run.event ?? '') && !isFork)
    return { ...about, commit: run.head_sha, branch };
  if (run.head_sha === undefined || !run.event?.startsWith('pull_request'))
    return { ...about, doubt: unknownSubject('the end of another workflow') };
  const pulls = pullsHere(run, env);
  const [pull] = pulls;
  return {
    ...about,
    commit: run.head_sha,
    branch,
    pullRequest: pulls.length === 1 ? pull?.number : undefined,
    baseRef: pulls.length === 1 ? pull?.base?.ref : undefined,
    doubt:
      pulls.length === 1 && pull?.number !== undefined
        ? undefined
        : {
            why: `This job follows a run for a pull request${isFork ? ` of the fork ${fork}` : ''}, and GitHub Actions does not say for which`,
            needs: [['pullRequest']],
          },
  };
}

/** The list may hold pull requests of the same branch for other repositories. */
function pullsHere({ pull_requests: pulls }: Followed, env: Environment): z.infer<typeof pullSchema>[] {
  const here = `/repos/${env.GITHUB_REPOSITORY}`.toLowerCase();
  return (pulls ?? []).filter(({ base }) => base?.repo?.url?.toLowerCase().endsWith(here) ?? true);
}

function onComment({ issue }: Event): Partial<RunInfo> {
  return {
    pullRequest: issue?.number,
    doubt: {
      why: 'This job was started by a comment, and GitHub Actions does not say which commit of the pull request it tests',
      needs: [['commit'], ...(issue?.number === undefined ? [['pullRequest'] as const] : [])],
    },
  };
}

/** The page of the attempt: the environment does not name the job by the id that its own page has. */
function urlOf(env: Environment): string | undefined {
  const { GITHUB_SERVER_URL: server, GITHUB_REPOSITORY: repository, GITHUB_RUN_ID: run, GITHUB_RUN_ATTEMPT } = env;
  if (!server || !repository || !run) return undefined;
  const attempt = wholeOf(GITHUB_RUN_ATTEMPT);
  return addressOf(`${server}/${repository}/actions/runs/${run}${attempt === undefined ? '' : `/attempts/${attempt}`}`);
}
