/**
 * The history that GitLab has of a project: ended pipelines with all attempts of their jobs, and its merge requests. Reports are in
 * the archives of jobs. A report that its job gave to GitLab only (`artifacts:reports:junit`) cannot be fetched as a file:
 * its tests are read from the pipeline's test report. https://docs.gitlab.com/api/jobs/
 */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
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
import { type PastJob, uploadOf } from '../past-job.ts';
import { type Job, jobsSchema, type Pipeline, pipelinesSchema, projectSchema, testReportSchema } from './api.ts';
import { GitlabMergeRequests } from './merge-requests.ts';
import { namedJob } from './names.ts';
import { junitOf } from './test-report.ts';

/** One is in memory at a time. */
const TEST_REPORT_BYTES_MAX = 256 * 1024 * 1024;

/** A pipeline with everything that is small of it, and the archives that are on the disk, by job. */
export interface GatheredPipeline {
  pipeline: Pipeline;
  /** The code that it tested. */
  tested: Awaited<ReturnType<GitlabMergeRequests['subjectOf']>>;
  jobs: readonly GatheredJob[];
  leftOut: readonly LeftOut[];
}

interface GatheredJob {
  job: Job;
  /** Where its archive lies, if it has one. */
  file: string | undefined;
}

/** A job that ended. */
interface EndedJob {
  id: number;
  name: string;
  past: PastJob;
  prefix: string;
  suite: string;
  hasResult: boolean;
  /** Whether GitLab has read a report of it. */
  hasUnitTests: boolean;
  /** Whether it was run again after that. */
  isRetried: boolean;
  file: string | undefined;
}

export class GitlabReader implements HostReader<Pipeline, GatheredPipeline> {
  readonly #requests: GitlabMergeRequests;
  readonly #logs: LogReader;
  readonly #base: string;
  #defaultBranch: string | undefined;

  constructor(
    private readonly history: HostHistory,
    private readonly isDone: (key: string) => boolean,
  ) {
    this.#base = `/projects/${encodeURIComponent(history.path)}`;
    this.#requests = new GitlabMergeRequests(history, this.#base);
    this.#logs = new LogReader(history);
  }

  async *pullRequests(): AsyncGenerator<ImportedPullRequest> {
    const project = await this.history.client.ask(this.#base, projectSchema);
    this.#defaultBranch = project.default_branch ?? undefined;
    yield* this.#requests.read();
  }

  keyOf({ id, updated_at: updatedAt }: Pipeline): string {
    return `pipeline ${id} ${updatedAt}`;
  }

  /** Day by day, so that no list is so long that GitLab refuses its later pages. */
  async *runs(): AsyncGenerator<Pipeline> {
    for (const { from, to } of daysOf(this.history)) {
      // Pipelines that others started are listed apart.
      const [own, children] = [
        await this.#listed(from, to, {}),
        await this.#listed(from, to, { source: 'parent_pipeline' }),
      ];
      const byId = new Map([...own, ...children].map((pipeline) => [pipeline.id, pipeline]));
      yield* [...byId.values()].sort((one, other) => one.id - other.id);
    }
  }

  async #listed(from: number, to: number, more: Readonly<Record<string, string>>): Promise<Pipeline[]> {
    const query = new URLSearchParams({
      scope: 'finished',
      created_after: new Date(from).toISOString(),
      created_before: new Date(to).toISOString(),
      per_page: '100',
      ...more,
    });
    const found: Pipeline[] = [];
    for await (const page of this.history.client.pages(`${this.#base}/pipelines?${query}`, pipelinesSchema))
      for (const pipeline of page) {
        const at = pipeline.created_at;
        if (at >= from && at < to && isWithin(this.history, at)) found.push(pipeline);
      }
    return found;
  }

  async gather(pipeline: Pipeline): Promise<GatheredPipeline> {
    const { client } = this.history;
    const leftOut: LeftOut[] = [];
    const jobs: GatheredJob[] = [];
    const path = `${this.#base}/pipelines/${pipeline.id}/jobs?include_retried=true&per_page=100`;
    for await (const page of client.pages(path, jobsSchema))
      for (const job of page) {
        const fetched = await this.#fetch(job);
        if (typeof fetched === 'object')
          leftOut.push({ name: `pipeline ${pipeline.id}, job ${job.id} (${job.name})`, ...fetched });
        jobs.push({ job, file: typeof fetched === 'string' ? fetched : undefined });
      }
    const isTag = jobs.some(({ job }) => job.tag);
    return { pipeline, tested: await this.#requests.subjectOf(pipeline, isTag), jobs, leftOut };
  }

  /** The file on the disk, or why there is none; undefined for a job without an archive. */
  async #fetch({ id, artifacts_file: archive, artifacts_expire_at: expiresAt }: Job) {
    if (!archive) return undefined;
    if (expiresAt && expiresAt < Date.now()) return { reason: 'the artifact has expired' };
    const file = join(this.history.folder, `${id}.zip`);
    const reason =
      tooLarge(archive.size ?? 0, this.history) ??
      (await fetchArtifact(this.history.client, `${this.#base}/jobs/${id}/artifacts`, file));
    return reason === null ? file : { reason };
  }

  async *itemsOf(gathered: GatheredPipeline): AsyncGenerator<ImportItem> {
    const { pipeline, jobs, leftOut } = gathered;
    const key = this.keyOf(pipeline);
    yield* leftOutItems(key, leftOut);
    const ended = this.#endedJobsOf(gathered);
    const withReport = new Set<EndedJob>();
    for (const job of ended) yield* this.#reportsOf(pipeline, job, withReport);
    yield* this.#unitTestsOf(pipeline, ended, withReport);
    for (const job of ended) yield* this.#logOf(pipeline, job, withReport);
    for (const { file } of jobs) if (file !== undefined) rmSync(file, { force: true });
  }

  #endedJobsOf({ pipeline, tested: { subject, commit }, jobs }: GatheredPipeline): EndedJob[] {
    const last = new Map<string, number>();
    for (const { job } of jobs) last.set(job.name, Math.max(job.id, last.get(job.name) ?? 0));
    const ended = jobs.flatMap(({ job, file }): EndedJob[] => {
      if (!job.finished_at) return [];
      const { leg, prefix, suite } = namedJob(job.name, job.runner ?? null);
      const past: PastJob = {
        pipeline: pipeline.name || 'GitLab CI',
        // Each attempt of a job is a job.
        runId: String(job.id),
        attempt: 1,
        leg,
        commit,
        subject: { ...subject, defaultBranch: this.#defaultBranch },
        url: job.web_url ?? undefined,
        endedAt: job.finished_at,
      };
      const hasResult = job.status === 'success' || job.status === 'failed';
      const hasUnitTests = job.artifacts?.some(({ file_type: type }) => type === 'junit') ?? false;
      const isRetried = last.get(job.name) !== job.id;
      return [{ id: job.id, name: job.name, past, prefix, suite, hasResult, hasUnitTests, isRetried, file }];
    });
    return ended.sort((one, other) => one.past.endedAt - other.past.endedAt);
  }

  async *#reportsOf(pipeline: Pipeline, job: EndedJob, withReport: Set<EndedJob>): AsyncGenerator<ImportItem> {
    if (job.file === undefined) return;
    const fetched = {
      key: `job ${job.id}`,
      name: nameOf(pipeline, job),
      prefix: job.prefix,
      file: job.file,
    };
    yield* reportItems(fetched, job.past, this.isDone, () => withReport.add(job));
  }

  /** Reports that GitLab keeps for itself. It has read those of the last attempts, those of a split job together. */
  async *#unitTestsOf(
    pipeline: Pipeline,
    jobs: readonly EndedJob[],
    withReport: Set<EndedJob>,
  ): AsyncGenerator<ImportItem> {
    const kept = jobs.filter((job) => job.hasUnitTests && !withReport.has(job));
    for (const job of kept.filter(({ isRetried }) => isRetried))
      yield {
        kind: 'left_out',
        key: `unit tests ${job.id}`,
        name: nameOf(pipeline, job),
        reason:
          'GitLab gives programs the unit tests of the last attempt only: name the report in artifacts:paths, too',
      };
    const bySuite = new Map<string, EndedJob>();
    for (const job of kept) if (!job.isRetried) bySuite.set(job.suite, job);
    // A part whose report is known already would count twice.
    for (const { suite } of withReport) bySuite.delete(suite);
    if (bySuite.size === 0) return;
    const suites = await this.#testReport(pipeline);
    for (const [suite, job] of bySuite) {
      const key = `unit tests ${job.id}`;
      const found = suites?.find(({ name }) => name === suite);
      const reason = suites ? found?.suite_error : `the test report is larger than ${TEST_REPORT_BYTES_MAX} bytes`;
      for (const one of jobs) if (one.suite === suite) withReport.add(one);
      if (reason) yield { kind: 'left_out', key, name: nameOf(pipeline, job), reason };
      if (!found || found.test_cases.length === 0 || this.isDone(key)) continue;
      yield {
        kind: 'report',
        key,
        name: nameOf(pipeline, job),
        format: 'junit',
        ...uploadOf(job.past, 'unit tests'),
        read: () => Promise.resolve(Buffer.from(junitOf(found))),
      };
    }
  }

  /** Undefined if it is too large. */
  async #testReport({ id }: Pipeline) {
    try {
      const path = `${this.#base}/pipelines/${id}/test_report`;
      const { text, isWhole } = await this.history.client.text(path, 'application/json', TEST_REPORT_BYTES_MAX);
      if (!isWhole) return undefined;
      return testReportSchema.parse(JSON.parse(text)).test_suites;
    } catch (error) {
      if (error instanceof HostRefusal && error.status === 404) return [];
      if (error instanceof SyntaxError || error instanceof z.ZodError)
        throw new HostRefusal('GitLab answered with something else than its API does', 200);
      throw error;
    }
  }

  async *#logOf(pipeline: Pipeline, job: EndedJob, withReport: ReadonlySet<EndedJob>): AsyncGenerator<ImportItem> {
    const key = `log ${job.id}`;
    if (!job.hasResult || withReport.has(job) || this.isDone(key)) return;
    const name = `pipeline ${pipeline.id}, log of job ${job.id} (${job.name})`;
    const item = await this.#logs.itemOf(job.past, { key, name, path: `${this.#base}/jobs/${job.id}/trace` });
    if (item) yield item;
  }
}

const nameOf = ({ id: pipeline }: Pipeline, { id, name }: EndedJob): string =>
  `pipeline ${pipeline}, job ${id} (${name})`;
