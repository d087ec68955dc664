/** Where a push goes and how it describes the run: from flags first, then from the environment of the CI provider. */
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import { parseOwner, parseRepositoryName } from './parse.ts';
import { NOTHING, type RunInfo } from './run-info.ts';

/** As commander parsed them. */
export interface PushFlags {
  url?: string;
  token?: string;
  repo?: RepositoryName;
  owner?: string;
  repository?: string;
  pipeline?: string;
  job?: string;
  runId?: string;
  runAttempt?: number;
  commit?: string;
  branch?: string;
  pullRequest?: number;
  defaultBranch?: string;
  startedAt?: string;
  report?: string;
}

export interface PushTarget {
  /** Without a trailing slash. */
  url: string;
  token: string;
  owner: string;
  repository: string;
  /** The same for every file, except for `report`. */
  query: Record<string, string>;
  reportOf(file: string): string;
}

export interface PushDefaults {
  url: string | undefined;
  token: string | undefined;
}

const URL_DEFAULT = 'http://127.0.0.1:3000';

/**
 * Throws a {@link UserError} that names the missing flags. With several `files`, `--report` is a prefix of each name.
 */
export function targetOf(flags: PushFlags, run: RunInfo, defaults: PushDefaults, files: number): PushTarget {
  const token = flags.token ?? defaults.token;
  if (!token)
    throw new UserError(
      'A token is required: set CI_INSIGHTS_TOKEN or pass --token. `ci-insights keys create` creates one.',
    );
  const { owner, repository } = repositoryOf(flags, run);
  const pipeline = flags.pipeline ?? run.pipelineName;
  const job = flags.job ?? run.jobName;
  const runId = flags.runId ?? run.runId;
  const missing = [...(pipeline ? [] : ['--pipeline']), ...(job ? [] : ['--job']), ...(runId ? [] : ['--run-id'])];
  if (!pipeline || !job || !runId) throw flagsNeeded(run, 'everything', missing.join(', '));
  const optional = {
    run_attempt: flags.runAttempt ?? run.runAttempt,
    commit: flags.commit ?? run.commit,
    branch: flags.branch ?? run.branch,
    // With --branch, the push is for that branch, whatever event started the job.
    pull_request: flags.pullRequest ?? (flags.branch === undefined ? run.pullRequest : undefined),
    default_branch: flags.defaultBranch ?? run.defaultBranch,
    started_at: flags.startedAt,
  };
  const query: Record<string, string> = { pipeline_name: pipeline, job_name: job, run_id: runId };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) query[name] = String(value);
  const shard = run.shard === undefined ? '' : `node-${run.shard}/`;
  return {
    url: (flags.url ?? defaults.url ?? URL_DEFAULT).replace(/\/+$/, ''),
    token,
    owner,
    repository,
    query,
    // Parts of a split job write to the same path: without their number, they would look like one report that is
    // resent.
    reportOf: (file) =>
      shard + (flags.report === undefined ? file : files === 1 ? flags.report : `${flags.report}/${file}`),
  };
}

function flagsNeeded(run: RunInfo, missing: string, flags: string): UserError {
  const reason = run === NOTHING ? 'No known CI provider runs this' : `${run.provider} does not provide ${missing}`;
  return new UserError(`${reason}: pass ${flags}.`);
}

function repositoryOf(flags: PushFlags, run: RunInfo): { owner: string; repository: string } {
  const owner = flags.repo?.owner ?? flags.owner ?? run.owner;
  const repository = flags.repo?.name ?? flags.repository ?? run.repository;
  if (!owner || !repository) throw flagsNeeded(run, 'the repository', '--repo owner/name');
  try {
    return { owner: parseOwner(owner), repository: parseRepositoryName(repository) };
  } catch {
    throw new UserError(
      `${owner}/${repository} is not a valid name of a repository (an owner has letters, digits and hyphens): pass --repo owner/name.`,
    );
  }
}
