/**
 * The history that GitHub has of a repository: runs of its workflows with their attempts, jobs and artifacts, and its pull
 * requests. https://docs.github.com/en/rest/actions
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import type { HostHistory, HostReader } from '../host.ts';
import { HostRefusal } from '../host-client.ts';
import {
  daysOf,
  fetchArtifact,
  isWithin,
  type LeftOut,
  LogReader,
  leftOutItems,
  reportItems,
  tooLarge,
} from '../host-source.ts';
import type { ImportedPullRequest, ImportItem } from '../item.ts';
import type { PastJob, Subject } from '../past-job.ts';
import { type Artifact, artifactsSchema, type Job, jobsSchema, type Run, repositorySchema, runsSchema } from './api.ts';
import { commonLeg, jobsOfArtifact, legOf, type RunJob } from './names.ts';
import { GithubPulls } from './pulls.ts';
import { jobsOfWorkflow, type WorkflowJob } from './workflow-file.ts';

/** GitHub lists no more runs of one question. */
const LISTED_MAX = 1_000;
const WORKFLOW_BYTES_MAX = 1024 * 1024;

/** A run with everything that is small of it, and the artifacts that are on the disk. */
export interface GatheredRun {
  run: Run;
  jobs: readonly Job[];
  artifacts: readonly (Artifact & { file: string })[];
  leftOut: readonly LeftOut[];
}

interface About {
  run: Run;
  subject: Subject;
  jobs: readonly RunJob[];
  workflow: readonly WorkflowJob[];
}

export class GithubReader implements HostReader<Run, GatheredRun> {
  readonly #pulls: GithubPulls;
  readonly #logs: LogReader;
  readonly #workflows = new Map<string, Promise<readonly WorkflowJob[]>>();
  #defaultBranch = '';

  constructor(
    private readonly history: HostHistory,
    private readonly isDone: (key: string) => boolean,
  ) {
    this.#pulls = new GithubPulls(history);
    this.#logs = new LogReader(history);
  }

  async *pullRequests(): AsyncGenerator<ImportedPullRequest> {
    const { client, path } = this.history;
    const { default_branch: defaultBranch } = await client.ask(`/repos/${path}`, repositorySchema);
    this.#defaultBranch = defaultBranch;
    yield* this.#pulls.read();
  }

  keyOf({ id, run_attempt }: Run): string {
    return `run ${id} ${run_attempt}`;
  }

  /** Day by day, because GitHub lists the newest first and no more than a thousand. */
  async *runs(): AsyncGenerator<Run> {
    for (const { from, to } of daysOf(this.history))
      for await (const run of this.#runsBetween(from, to)) if (isWithin(this.history, run.created_at)) yield run;
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
    yield* runs.reverse();
  }

  async gather(run: Run): Promise<GatheredRun> {
    const { client, path, folder } = this.history;
    const base = `/repos/${path}/actions/runs/${run.id}`;
    const leftOut: LeftOut[] = [];
    const artifacts: (Artifact & { file: string })[] = [];
    const jobs: Job[] = [];
    for await (const page of client.pages(`${base}/jobs?filter=all&per_page=100`, jobsSchema)) jobs.push(...page.jobs);
    for await (const page of client.pages(`${base}/artifacts?per_page=100`, artifactsSchema))
      for (const artifact of page.artifacts) {
        const file = join(folder, `${artifact.id}.zip`);
        const reason = await this.#fetch(artifact, file);
        if (reason === null) artifacts.push({ ...artifact, file });
        else leftOut.push({ name: `run ${run.id}, artifact ${artifact.name}`, reason });
      }
    return { run, jobs, artifacts, leftOut };
  }

  /** Why it is not on the disk; null if it is. */
  async #fetch(artifact: Artifact, file: string): Promise<string | null> {
    if (artifact.expired) return 'the artifact has expired';
    const reason = tooLarge(artifact.size_in_bytes, this.history);
    return reason ?? fetchArtifact(this.history.client, artifact.archive_download_url, file);
  }

  async *itemsOf({ run, jobs, artifacts, leftOut }: GatheredRun): AsyncGenerator<ImportItem> {
    const key = this.keyOf(run);
    yield* leftOutItems(key, leftOut);
    const subject = this.#pulls.subjectOf(run, this.#defaultBranch);
    if ('reason' in subject)
      yield { kind: 'left_out', key: `${key} subject`, name: `run ${run.id}`, reason: subject.reason };
    else {
      const about = { run, subject, jobs: runJobsOf(jobs), workflow: await this.#workflowOf(run) };
      const withReport = new Set<RunJob>();
      for (const artifact of artifacts) yield* this.#reportsOf(about, artifact, withReport);
      yield* this.#logsOf(about, withReport);
    }
    for (const { file } of artifacts) rmSync(file, { force: true });
  }

  async *#reportsOf(
    about: About,
    artifact: Artifact & { file: string },
    withReport: Set<RunJob>,
  ): AsyncGenerator<ImportItem> {
    const { name, created_at: createdAt } = artifact;
    const from = jobsOfArtifact({ name, createdAt }, about.jobs);
    const [first] = from;
    const legs = from.map((job) => legOf(job, about.workflow));
    const job: PastJob = {
      ...pastJobOf(about),
      attempt: first?.attempt ?? about.run.run_attempt,
      leg: commonLeg(legs, name),
      url: first?.url,
      endedAt: Math.max(createdAt, ...from.map(({ completedAt }) => completedAt)),
    };
    const fetched = {
      key: `${this.keyOf(about.run)} artifact ${artifact.id}`,
      name: `run ${about.run.id}, ${name}`,
      prefix: `${name}/`,
      file: artifact.file,
    };
    yield* reportItems(fetched, job, this.isDone, () => {
      for (const one of from) withReport.add(one);
    });
  }

  async *#logsOf(about: About, withReport: ReadonlySet<RunJob>): AsyncGenerator<ImportItem> {
    for (const job of about.jobs) {
      const key = `${this.keyOf(about.run)} log ${job.id}`;
      if (!job.hasResult || withReport.has(job) || this.isDone(key)) continue;
      const past: PastJob = {
        ...pastJobOf(about),
        attempt: job.attempt,
        leg: legOf(job, about.workflow),
        url: job.url,
        endedAt: job.completedAt,
      };
      const name = `run ${about.run.id}, log of ${job.name}`;
      const path = `/repos/${this.history.path}/actions/jobs/${job.id}/logs`;
      const item = await this.#logs.itemOf(past, { key, name, path });
      if (item) yield item;
    }
  }

  /** The value that the first imported run of it has. */
  #workflowOf({ path: file, head_sha: commit }: Run): Promise<readonly WorkflowJob[]> {
    const { client, path } = this.history;
    const name = file?.split('@')[0];
    if (!name) return Promise.resolve([]);
    const known = this.#workflows.get(name);
    if (known) return known;
    const read = client
      .text(`/repos/${path}/contents/${name}?ref=${commit}`, 'application/vnd.github.raw+json', WORKFLOW_BYTES_MAX)
      .then(({ text }) => jobsOfWorkflow(text))
      .catch((error: unknown) => {
        // A workflow that is gone, or that GitHub makes itself, names nothing.
        if (error instanceof HostRefusal && error.status !== undefined && error.status < 500) return [];
        throw error;
      });
    this.#workflows.set(name, read);
    return read;
  }
}

const pastJobOf = ({ run, subject }: About) => ({
  pipeline: run.name || 'unknown',
  runId: String(run.id),
  commit: run.head_sha,
  subject,
});

const runJobsOf = (jobs: readonly Job[]): RunJob[] =>
  jobs.flatMap(({ started_at: startedAt, completed_at: completedAt, ...job }) =>
    startedAt && completedAt
      ? [
          {
            id: job.id,
            name: job.name,
            attempt: job.run_attempt,
            hasResult: job.conclusion === 'success' || job.conclusion === 'failure',
            startedAt,
            completedAt,
            labels: job.labels,
            runner: job.runner_name ?? undefined,
            url: job.html_url ?? undefined,
          },
        ]
      : [],
  );
