/**
 * The history that GitHub has of a repository: runs of its workflows with their attempts, jobs and artifacts, and its pull
 * requests. Oldest first, a few runs ahead of what is sent. https://docs.github.com/en/rest/actions
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DAY_MS } from '../../domain/time.ts';
import { axesFrom } from '../ci-axes.ts';
import { pairsOf, type UploadQuery } from '../upload-query.ts';
import {
  type Artifact,
  artifactsSchema,
  type GithubHistory,
  type Job,
  jobsSchema,
  type Run,
  repositorySchema,
  runsSchema,
} from './github-api.ts';
import { commonLeg, jobsOfArtifact, type Leg, legOf, type RunJob } from './github-names.ts';
import { GithubPulls, type Subject } from './github-pulls.ts';
import { HostRefusal } from './host-client.ts';
import { aheadOf } from './in-order.ts';
import type { ImportItem, ImportSource } from './item.ts';
import { ctrfOf, testsInLog } from './logs.ts';
import { jobsOfWorkflow, type WorkflowJob } from './workflow-file.ts';
import { reportsInZip } from './zipped-reports.ts';

/** GitHub lists no more runs of one question. */
const LISTED_MAX = 1_000;
/** Runs whose artifacts are fetched while those of others are sent. */
const RUNS_AHEAD = 4;
const LOG_BYTES_MAX = 32 * 1024 * 1024;
/** A job whose logs named no test so often is not asked again. */
const LOGS_WITHOUT_TESTS_MAX = 3;
const WORKFLOW_BYTES_MAX = 1024 * 1024;

export function githubSource(history: GithubHistory): ImportSource {
  return {
    name: `github ${history.path}`,
    expected: undefined,
    items: (isDone) => new GithubReader(history, isDone).items(),
  };
}

/** A run with everything that is small of it, and the artifacts that are on the disk. */
interface Gathered {
  run: Run;
  jobs: readonly Job[];
  artifacts: readonly (Artifact & { file: string })[];
  leftOut: readonly { name: string; reason: string }[];
}

class GithubReader {
  readonly #pulls: GithubPulls;
  readonly #workflows = new Map<string, Promise<readonly WorkflowJob[]>>();
  readonly #logsWithoutTests = new Map<string, number>();
  #defaultBranch = '';

  constructor(
    private readonly history: GithubHistory,
    private readonly isDone: (key: string) => boolean,
  ) {
    this.#pulls = new GithubPulls(history);
  }

  async *items(): AsyncGenerator<ImportItem> {
    const { client, path, folder } = this.history;
    mkdirSync(folder, { recursive: true });
    const { default_branch: defaultBranch } = await client.ask(`/repos/${path}`, repositorySchema);
    this.#defaultBranch = defaultBranch;
    for await (const pullRequest of this.#pulls.read()) {
      const key = `pull ${pullRequest.number} ${pullRequest.updated_at}`;
      if (!this.isDone(key)) yield { kind: 'pull_request', key, pullRequest };
    }
    for await (const gathered of aheadOf(this.#runs(), RUNS_AHEAD, (run) => this.#gather(run)))
      yield* this.#itemsOf(gathered);
    rmSync(folder, { recursive: true, force: true });
  }

  /** Day by day, because GitHub lists the newest first and no more than a thousand. */
  async *#runs(): AsyncGenerator<Run> {
    const { since, until } = this.history;
    for (let from = since; from < until; from += DAY_MS) yield* this.#runsBetween(from, Math.min(from + DAY_MS, until));
  }

  async *#runsBetween(from: number, to: number): AsyncGenerator<Run> {
    const { client, path } = this.history;
    const inSeconds = (at: number): string => new Date(at).toISOString().replace(/\.\d+Z$/, 'Z');
    const query = new URLSearchParams({
      status: 'completed',
      created: `${inSeconds(from)}..${inSeconds(to - 1_000)}`,
      per_page: '100',
    });
    const runs: Run[] = [];
    for await (const page of client.pages(`/repos/${path}/actions/runs?${query}`, runsSchema)) {
      const middle = from + Math.floor((to - from) / 2_000) * 1_000;
      if (page.total_count > LISTED_MAX && middle > from) {
        yield* this.#runsBetween(from, middle);
        yield* this.#runsBetween(middle, to);
        return;
      }
      runs.push(...page.workflow_runs);
    }
    for (const run of runs.reverse()) if (!this.isDone(runKey(run))) yield run;
  }

  async #gather(run: Run): Promise<Gathered> {
    const { client, path, folder, artifactBytesMax } = this.history;
    const base = `/repos/${path}/actions/runs/${run.id}`;
    const leftOut: { name: string; reason: string }[] = [];
    const artifacts: (Artifact & { file: string })[] = [];
    const jobs: Job[] = [];
    for await (const page of client.pages(`${base}/jobs?filter=all&per_page=100`, jobsSchema)) jobs.push(...page.jobs);
    for await (const page of client.pages(`${base}/artifacts?per_page=100`, artifactsSchema))
      for (const artifact of page.artifacts) {
        const name = `run ${run.id}, artifact ${artifact.name}`;
        const file = join(folder, `${artifact.id}.zip`);
        if (artifact.expired) leftOut.push({ name, reason: 'the artifact has expired' });
        else if (artifact.size_in_bytes > artifactBytesMax)
          leftOut.push({ name, reason: `the artifact is larger than ${artifactBytesMax} bytes (--artifact-bytes)` });
        else if (await this.#fetch(artifact, file, (reason) => leftOut.push({ name, reason })))
          artifacts.push({ ...artifact, file });
      }
    return { run, jobs, artifacts, leftOut };
  }

  /** Whether it is on the disk. */
  async #fetch(
    { archive_download_url: url }: Artifact,
    file: string,
    leaveOut: (reason: string) => void,
  ): Promise<boolean> {
    try {
      await this.history.client.download(url, file);
      return true;
    } catch (error) {
      if (!(error instanceof HostRefusal) || error.status === undefined) throw error;
      if (error.status !== 404 && error.status !== 410) throw error;
      leaveOut(error.status === 410 ? 'the artifact has expired' : 'the artifact is gone');
      return false;
    }
  }

  async *#itemsOf({ run, jobs, artifacts, leftOut }: Gathered): AsyncGenerator<ImportItem> {
    const key = runKey(run);
    for (const { name, reason } of leftOut) yield { kind: 'left_out', key: `${key} ${name}`, name, reason };
    const subject = this.#pulls.subjectOf(run, this.#defaultBranch);
    if ('reason' in subject)
      yield { kind: 'left_out', key: `${key} subject`, name: `run ${run.id}`, reason: subject.reason };
    else {
      const about = { run, subject, jobs: runJobsOf(jobs), workflow: await this.#workflowOf(run) };
      const withReport = new Set<RunJob>();
      for (const artifact of artifacts) yield* this.#reportsOf(about, artifact, withReport);
      if (this.history.readsLogs) yield* this.#logsOf(about, jobs, withReport);
    }
    for (const { file } of artifacts) rmSync(file, { force: true });
    yield { kind: 'done', key };
  }

  async *#reportsOf(
    about: About,
    artifact: Artifact & { file: string },
    withReport: Set<RunJob>,
  ): AsyncGenerator<ImportItem> {
    const from = jobsOfArtifact({ name: artifact.name, createdAt: artifact.created_at }, about.jobs);
    const leg = commonLeg(
      from.map((job) => legOf(job, about.workflow)),
      artifact.name,
    );
    const key = `${runKey(about.run)} artifact ${artifact.id}`;
    const named = (path: string): string => `run ${about.run.id}, ${artifact.name}/${path}`;
    try {
      for await (const found of reportsInZip(artifact.file)) {
        if ('leftOut' in found) {
          yield { kind: 'left_out', key: `${key} ${found.path}`, name: named(found.path), reason: found.leftOut };
          continue;
        }
        for (const job of from) withReport.add(job);
        const { path, format, body } = found.report;
        if (this.isDone(`${key} ${path}`)) continue;
        yield {
          kind: 'report',
          key: `${key} ${path}`,
          name: named(path),
          format: format.name,
          query: queryOf(
            about,
            { leg, attempt: from[0]?.attempt ?? about.run.run_attempt, job: from[0] },
            `${artifact.name}/${path}`,
          ),
          arrivedAt: Math.max(artifact.created_at, ...from.map(({ completedAt }) => completedAt)),
          read: () => Promise.resolve(body),
        };
      }
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      yield { kind: 'left_out', key, name: named(''), reason: `the artifact cannot be read: ${reason}` };
    }
  }

  async *#logsOf(about: About, jobs: readonly Job[], withReport: ReadonlySet<RunJob>): AsyncGenerator<ImportItem> {
    for (const [i, job] of about.jobs.entries()) {
      const told = jobs.filter(isEnded)[i];
      const leg = legOf(job, about.workflow);
      const kind = `${about.run.name} ${leg.job}`;
      const misses = this.#logsWithoutTests.get(kind) ?? 0;
      const isResult = told?.conclusion === 'success' || told?.conclusion === 'failure';
      const key = `${runKey(about.run)} log ${told?.id}`;
      if (!told || !isResult || withReport.has(job) || misses >= LOGS_WITHOUT_TESTS_MAX || this.isDone(key)) continue;
      const tests = testsInLog(await this.#log(told));
      if (tests.length === 0) {
        this.#logsWithoutTests.set(kind, misses + 1);
        continue;
      }
      const marked = { ...leg, place: { ...leg.place, ...axesFrom({ source: 'log' }) } };
      yield {
        kind: 'report',
        key,
        name: `run ${about.run.id}, log of ${job.name}`,
        format: 'ctrf',
        query: queryOf(about, { leg: marked, attempt: job.attempt, job }, 'log'),
        arrivedAt: job.completedAt,
        read: () => Promise.resolve(Buffer.from(ctrfOf(tests))),
      };
    }
  }

  async #log({ id }: Job): Promise<string> {
    const { client, path } = this.history;
    try {
      return await client.text(`/repos/${path}/actions/jobs/${id}/logs`, '*/*', LOG_BYTES_MAX);
    } catch (error) {
      if (error instanceof HostRefusal && (error.status === 404 || error.status === 410)) return '';
      throw error;
    }
  }

  /** As the first of its runs that is imported has it. */
  #workflowOf({ path: file, head_sha: commit }: Run): Promise<readonly WorkflowJob[]> {
    const { client, path } = this.history;
    const name = file?.split('@')[0];
    if (!name) return Promise.resolve([]);
    const known = this.#workflows.get(name);
    if (known) return known;
    const read = client
      .text(`/repos/${path}/contents/${name}?ref=${commit}`, 'application/vnd.github.raw+json', WORKFLOW_BYTES_MAX)
      .then(jobsOfWorkflow)
      .catch((error: unknown) => {
        // A workflow that is gone, or that GitHub makes itself, names nothing.
        if (error instanceof HostRefusal && error.status !== undefined && error.status < 500) return [];
        throw error;
      });
    this.#workflows.set(name, read);
    return read;
  }
}

interface About {
  run: Run;
  subject: Subject;
  jobs: readonly RunJob[];
  workflow: readonly WorkflowJob[];
}

const runKey = ({ id, run_attempt }: Run): string => `run ${id} ${run_attempt}`;

const isEnded = ({ started_at, completed_at }: Job): boolean => Boolean(started_at && completed_at);

const runJobsOf = (jobs: readonly Job[]): RunJob[] =>
  jobs.filter(isEnded).map((job) => ({
    name: job.name,
    attempt: job.run_attempt,
    startedAt: job.started_at ?? 0,
    completedAt: job.completed_at ?? 0,
    labels: job.labels,
    runner: job.runner_name ?? undefined,
    url: job.html_url ?? undefined,
  }));

function queryOf(
  { run, subject }: About,
  { leg, attempt, job }: { leg: Leg; attempt: number; job: RunJob | undefined },
  report: string,
): UploadQuery {
  const optional = {
    branch: subject.branch,
    pull_request: subject.pullRequest,
    base_ref: subject.baseRef,
    default_branch: subject.defaultBranch,
    job_url: job?.url,
  };
  const query: Record<string, string | readonly string[]> = {
    report,
    pipeline_name: run.name || 'unknown',
    job_name: leg.job,
    run_id: String(run.id),
    run_attempt: String(attempt),
    commit: run.head_sha,
  };
  for (const [name, value] of Object.entries(optional)) if (value !== undefined) query[name] = String(value);
  for (const [name, pairs] of Object.entries({ axis: pairsOf(leg.axes), place: pairsOf(leg.place) }))
    if (pairs !== undefined) query[name] = pairs;
  return query;
}
