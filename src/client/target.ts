/** Where a client's requests go and how it describes the run: flags first, then the environment of the CI provider. */
import { readFileSync } from 'node:fs';
import { AXES_MAX, type Axes } from '../domain/axes.ts';
import { shortBranch } from '../domain/default-branch.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import { type AttachmentFlags, attachmentsPlaceOf } from './attachments.ts';
import { readCheckout } from './checkout.ts';
import { detectCi } from './ci-provider.ts';
import { identityTokenSource, keySourceOf } from './identity-token.ts';
import { parseOwner, parseRepositoryName } from './parse.ts';
import { NOTHING, type RunInfo, type SubjectFlag } from './run-info.ts';
import type { Connection } from './service.ts';
import type { ClientEnvironment } from './settings.ts';
import { pairsOf, type UploadQuery } from './upload-query.ts';

/** Flags as commander parsed them. */
export interface TargetFlags {
  url?: string;
  repo?: RepositoryName;
  owner?: string;
  repository?: string;
}

export interface RunFlags extends TargetFlags, AttachmentFlags {
  pipeline?: string;
  job?: string;
  axis?: Axes;
  place?: Axes;
  runId?: string;
  runAttempt?: number;
  commit?: string;
  branch?: string;
  pullRequest?: number;
  baseBranch?: string;
  defaultBranch?: string;
  startedAt?: string;
  jobUrl?: string;
  report?: string;
}

/** The run of a CI job. */
export interface RunTarget {
  pipeline: string;
  job: string;
  /** They name the leg of the job. */
  axes: Axes;
  /** Tells machines apart, and names nothing. */
  place: Axes;
  commit: string | undefined;
  branch: string | undefined;
  baseBranch: string | undefined;
  run: { id: string; attempt: number };
  /** The parameters of an upload, the same for every report of the job. */
  query: UploadQuery;
  /** Begins the names of this job's reports; empty unless the job is split into parts. */
  reportPrefix: string;
  /** Sentences about flags that say something else than the environment. */
  warnings: string[];
}

const URL_DEFAULT = 'http://127.0.0.1:3000';

/** With the key of the environment, else with one for the identity token of the CI. Throws a {@link UserError} without both. */
export function connectionOf(flags: TargetFlags, environment: ClientEnvironment): Connection {
  const { url: given, token } = environment;
  const url = (flags.url ?? given ?? URL_DEFAULT).replace(/(?<!\/)\/+$/, '');
  if (token) return { url, token };
  const identity = identityTokenSource(environment, url);
  if (identity) return { url, token: keySourceOf(url, identity) };
  throw new UserError(
    'A token is required: set CI_INSIGHTS_TOKEN, or CI_INSIGHTS_TOKEN_FILE to a file that holds it. `ci-insights keys create` creates one. Without a key, let the CI give the job an identity token (docs/producers.md).',
  );
}

/** The job as the CI provider describes it; {@link NOTHING} outside of a known one. */
export const runInfoOf = ({ variables }: ClientEnvironment): RunInfo =>
  detectCi(variables, readEvent(variables.GITHUB_EVENT_PATH), readCheckout(variables.GITHUB_WORKSPACE));

/** Throws a {@link UserError} that names the missing flags. A flag counts more than what the environment says. */
export function runTargetOf(flags: RunFlags, run: RunInfo): RunTarget {
  const pipeline = flags.pipeline ?? run.pipelineName;
  const job = flags.job ?? run.jobName;
  const runId = flags.runId ?? run.runId;
  const missing = [...(pipeline ? [] : ['--pipeline']), ...(job ? [] : ['--job']), ...(runId ? [] : ['--run-id'])];
  if (!pipeline || !job || !runId) throw flagsNeeded(run, 'everything', missing.join(', '));
  requireSubject(flags, run);
  const commit = flags.commit ?? run.commit;
  const branch = flags.branch ?? run.branch;
  const runAttempt = flags.runAttempt ?? run.runAttempt;
  // With --branch alone, the upload is for that branch, whatever event started the job.
  const isOfEnvironment = flags.branch === undefined || flags.pullRequest !== undefined;
  const baseBranch = flags.baseBranch ?? (isOfEnvironment ? run.baseRef : undefined);
  const axes = merged(flags.axis, run.axes);
  const place = merged(flags.place, run.place);
  const attachments = attachmentsPlaceOf(flags);
  const optional = {
    run_attempt: runAttempt,
    commit,
    branch,
    pull_request: flags.pullRequest ?? (isOfEnvironment ? run.pullRequest : undefined),
    base_ref: baseBranch,
    default_branch: flags.defaultBranch ?? run.defaultBranch,
    started_at: flags.startedAt,
    job_url: flags.jobUrl ?? run.jobUrl,
    attachments_url: attachments?.url,
    attachments_root: attachments?.root,
  };
  const query: Record<string, string | readonly string[]> = { pipeline_name: pipeline, job_name: job, run_id: runId };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) query[name] = String(value);
  for (const [name, pairs] of Object.entries({ axis: pairsOf(axes.kept), place: pairsOf(place.kept) }))
    if (pairs !== undefined) query[name] = pairs;
  return {
    pipeline,
    job,
    axes: axes.kept,
    place: place.kept,
    commit,
    branch,
    baseBranch,
    run: { id: runId, attempt: runAttempt ?? 1 },
    query,
    // Parts of a split job write to the same path: without their number, they would look like one report that is
    // resent.
    reportPrefix: run.shard === undefined ? '' : `node-${run.shard}/`,
    warnings: [...contradictions(flags, run), ...run.warnings, ...leftOut('axes', axes), ...leftOut('places', place)],
  };
}

interface Merged {
  kept: Axes;
  /** Names for which there was no room. */
  over: readonly string[];
}

/** Flags first, then what the environment says of other names. */
function merged(flags: Axes = {}, said: Axes): Merged {
  const entries = Object.entries({ ...flags, ...said, ...flags });
  return {
    kept: Object.fromEntries(entries.slice(0, AXES_MAX)),
    over: entries.slice(AXES_MAX).map(([name]) => name),
  };
}

const leftOut = (many: string, { over }: Merged): string[] =>
  over.length === 0 ? [] : [`There are more than ${AXES_MAX} ${many}: without ${over.join(', ')}.`];

const FLAG_NAMES: Readonly<Record<SubjectFlag, string>> = {
  commit: '--commit',
  branch: '--branch',
  pullRequest: '--pull-request',
};

/** Throws a {@link UserError} if the environment cannot know what was tested, and no flag says it. */
function requireSubject(flags: RunFlags, { doubt }: RunInfo): void {
  const missing = doubt?.needs.filter((group) => group.every((flag) => flags[flag] === undefined)) ?? [];
  if (!doubt || missing.length === 0) return;
  const named = missing.map((group) => group.map((flag) => FLAG_NAMES[flag]).join(' or '));
  throw new UserError(`${doubt.why}: pass ${named.join(', and ')}.`);
}

/** Such as `--branch main` in a job of a pull request, whose failures would then be those of main. */
function contradictions(flags: RunFlags, run: RunInfo): string[] {
  const warnings: string[] = [];
  const { branch, pullRequest, commit, defaultBranch } = flags;
  const { provider } = run;
  if (branch !== undefined && pullRequest === undefined && run.pullRequest !== undefined)
    warnings.push(
      `--branch ${branch} is passed in a job of pull request ${run.pullRequest} (${provider}): its results count for ${branch}. Leave the flag out, or pass --pull-request too.`,
    );
  else if (branch !== undefined && run.branch !== undefined && shortBranch(branch) !== run.branch)
    warnings.push(`--branch ${branch} is passed, but ${provider} says that ${run.branch} is tested.`);
  if (pullRequest !== undefined && run.pullRequest !== undefined && pullRequest !== run.pullRequest)
    warnings.push(
      `--pull-request ${pullRequest} is passed, but ${provider} says that pull request ${run.pullRequest} is tested.`,
    );
  if (commit !== undefined && run.commit !== undefined && !isSameCommit(commit, run.commit))
    warnings.push(`--commit ${commit} is passed, but ${provider} says that ${run.commit} is tested.`);
  if (
    defaultBranch !== undefined &&
    run.defaultBranch !== undefined &&
    shortBranch(defaultBranch) !== run.defaultBranch
  )
    warnings.push(
      `--default-branch ${defaultBranch} is passed, but ${provider} says that the default branch is ${run.defaultBranch}.`,
    );
  return warnings;
}

/** One may be abbreviated. */
const isSameCommit = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);

/** How the service tells the reports of a job apart. With several `files`, `--report` stands before each path. */
export const reportNameOf = ({ report }: RunFlags, target: RunTarget, file: string, files: number): string =>
  target.reportPrefix + (report === undefined ? file : files === 1 ? report : `${report}/${file}`);

export function repositoryOf(flags: TargetFlags, run: RunInfo): RepositoryName {
  const owner = flags.repo?.owner ?? flags.owner ?? run.owner;
  const repository = flags.repo?.name ?? flags.repository ?? run.repository;
  if (!owner || !repository) throw flagsNeeded(run, 'the repository', '--repo owner/name');
  try {
    return { owner: parseOwner(owner), name: parseRepositoryName(repository) };
  } catch {
    throw new UserError(
      `${owner}/${repository} is not a valid name of a repository (an owner has letters, digits and hyphens): pass --repo owner/name.`,
    );
  }
}

function flagsNeeded(run: RunInfo, missing: string, flags: string): UserError {
  const reason =
    run.provider === NOTHING.provider
      ? 'No known CI provider runs this'
      : `${run.provider} does not provide ${missing}`;
  return new UserError(`${reason}: pass ${flags}.`);
}

/** GitHub's description of the event that started the job. Without it, the other variables must be enough. */
function readEvent(path: string | undefined): unknown {
  if (!path) return undefined;
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
