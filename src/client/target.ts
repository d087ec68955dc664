/** Where a client's requests go and how it describes the run: flags first, then the environment of the CI provider. */
import { readFileSync } from 'node:fs';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import { detectCi } from './ci-provider.ts';
import { identityTokenSource, keySourceOf } from './identity-token.ts';
import { parseOwner, parseRepositoryName } from './parse.ts';
import { NOTHING, type RunInfo } from './run-info.ts';
import type { Connection } from './service.ts';
import type { ClientEnvironment } from './settings.ts';

/** Flags as commander parsed them. */
export interface TargetFlags {
  url?: string;
  repo?: RepositoryName;
  owner?: string;
  repository?: string;
}

export interface RunFlags extends TargetFlags {
  pipeline?: string;
  job?: string;
  runId?: string;
  runAttempt?: number;
  commit?: string;
  branch?: string;
  pullRequest?: number;
  defaultBranch?: string;
  startedAt?: string;
  jobUrl?: string;
  report?: string;
}

/** The run of a CI job. */
export interface RunTarget {
  pipeline: string;
  job: string;
  commit: string | undefined;
  branch: string | undefined;
  /** The parameters of an upload, the same for every report of the job. */
  query: Record<string, string>;
  /** Begins the names of this job's reports; empty unless the job is split into parts. */
  reportPrefix: string;
}

const URL_DEFAULT = 'http://127.0.0.1:3000';

/** With the key of the environment, else with one for the identity token of the CI. Throws a {@link UserError} without both. */
export function connectionOf(flags: TargetFlags, environment: ClientEnvironment): Connection {
  const { url: given, token } = environment;
  const url = (flags.url ?? given ?? URL_DEFAULT).replace(/\/+$/, '');
  if (token) return { url, token };
  const identity = identityTokenSource(environment, url);
  if (identity) return { url, token: keySourceOf(url, identity) };
  throw new UserError(
    'A token is required: set CI_INSIGHTS_TOKEN, or CI_INSIGHTS_TOKEN_FILE to a file that holds it. `ci-insights keys create` creates one. Without a key, let the CI give the job an identity token (docs/producers.md).',
  );
}

/** The job as the CI provider describes it; {@link NOTHING} outside of a known one. */
export const runInfoOf = ({ variables }: ClientEnvironment): RunInfo =>
  detectCi(variables, readEvent(variables.GITHUB_EVENT_PATH));

/** Throws a {@link UserError} that names the missing flags. */
export function runTargetOf(flags: RunFlags, run: RunInfo): RunTarget {
  const pipeline = flags.pipeline ?? run.pipelineName;
  const job = flags.job ?? run.jobName;
  const runId = flags.runId ?? run.runId;
  const missing = [...(pipeline ? [] : ['--pipeline']), ...(job ? [] : ['--job']), ...(runId ? [] : ['--run-id'])];
  if (!pipeline || !job || !runId) throw flagsNeeded(run, 'everything', missing.join(', '));
  const commit = flags.commit ?? run.commit;
  const branch = flags.branch ?? run.branch;
  const optional = {
    run_attempt: flags.runAttempt ?? run.runAttempt,
    commit,
    branch,
    // With --branch, the upload is for that branch, whatever event started the job.
    pull_request: flags.pullRequest ?? (flags.branch === undefined ? run.pullRequest : undefined),
    default_branch: flags.defaultBranch ?? run.defaultBranch,
    started_at: flags.startedAt,
    job_url: flags.jobUrl ?? run.jobUrl,
  };
  const query: Record<string, string> = { pipeline_name: pipeline, job_name: job, run_id: runId };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) query[name] = String(value);
  return {
    pipeline,
    job,
    commit,
    branch,
    query,
    // Parts of a split job write to the same path: without their number, they would look like one report that is
    // resent.
    reportPrefix: run.shard === undefined ? '' : `node-${run.shard}/`,
  };
}

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
  const reason = run === NOTHING ? 'No known CI provider runs this' : `${run.provider} does not provide ${missing}`;
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
