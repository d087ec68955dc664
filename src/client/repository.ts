/** Questions of CI jobs about a repository: one method for each address of the API that the client uses. */
import { z } from 'zod';
import { type Attachment, attachmentSchema } from '../domain/attachments.ts';
import type { Axes } from '../domain/axes.ts';
import { foreignRecord } from '../domain/foreign-record.ts';
import type { ImportedPullRequest } from './import/item.ts';
import type { Service, ServiceRequest } from './service.ts';
import { pairsOf } from './upload-query.ts';

/** Narrows a request about a job. */
export interface JobScope {
  pipeline: string;
  job: string;
  branch: string | undefined;
  /** The branch that a pull request is for. */
  baseBranch: string | undefined;
  /** They name its leg. */
  axes: Axes;
}

/** Narrows a request to one attempt of a job. */
export interface RunScope extends JobScope {
  run: { id: string; attempt: number };
}

/** The fields of a receipt, of which the answer to an upload has some. Counts are null while unknown. */
const receiptSchema = z.object({
  id: z.string(),
  status: z.string(),
  executions: z.number().nullish(),
  accepted: z.number().nullish(),
  duplicate: z.number().nullish(),
  rejected: z.number().nullish(),
  conflicting: z.number().nullish(),
  rejections: z.array(z.object({ reason: z.string(), count: z.number() })).default([]),
  warnings: z.array(z.string()).default([]),
  failure: z.string().nullish(),
  is_cut_short: z.boolean().default(false),
});
export type Receipt = z.infer<typeof receiptSchema>;

// Fields that the client does not read are ignored: the service may be newer. Those that it can do without may be missing.

const quarantineSchema = z.object({
  id: z.string(),
  test_id: z.string().nullish(),
  test_name: z.string(),
  branch: z.string().nullish(),
  reason: z.string().nullish(),
  source: z.string().nullish(),
  created_at: z.string().nullish(),
  is_recovered: z.boolean().nullish(),
  pipeline_name: z.string().nullish(),
  job_name: z.string().nullish(),
  axes: foreignRecord(z.string(), z.array(z.string())).nullish(),
  failure_ids: z.array(z.string()).nullish(),
  expires_at: z.string().nullish(),
  owner: z.string().nullish(),
  ticket_url: z.string().nullish(),
});
export type QuarantineRecord = z.infer<typeof quarantineSchema>;

/** The scope that a quarantine should have. */
const scopeSchema = z.object({
  pipeline_name: z.string().nullish(),
  job_name: z.string().nullish(),
  axes: foreignRecord(z.string(), z.array(z.string())).nullish(),
});
export type ScopeAsked = z.infer<typeof scopeSchema>;

const failsWithSchema = z.object({
  kind: z.string(),
  sentence: z.string(),
  scope: scopeSchema.nullish(),
});

const commitFailureSchema = z.object({
  // A word of a newer service is no excuse.
  verdict: z.enum(['new', 'broken', 'known_flaky', 'infrastructure', 'quarantined']).catch('new'),
  test_id: z.string(),
  test_name: z.string(),
  evidence: z.object({
    health_status: z.string().nullable(),
    default_branch_failures: z.number(),
    default_branch_last_failure_at: z.string().nullable(),
    health_began_at: z.string().nullish(),
    health_ended_at: z.string().nullish(),
    failing_pull_requests: z.number().nullish(),
    trouble: z
      .object({ sign: z.string(), other_changes: z.number(), on_default_branch: z.boolean() })
      .nullish()
      .catch(null),
    run_failed: z.number(),
    run_passed: z.number(),
  }),
  owners: z.array(z.string()).nullish(),
  fails_with: failsWithSchema.nullish(),
  legs: z.array(z.object({ axes: z.record(z.string(), z.string()) })).nullish(),
});
export type CommitFailure = z.infer<typeof commitFailureSchema>;

const foundTestSchema = z.object({
  test_id: z.string(),
  test_name: z.string(),
  pipeline_name: z.string(),
  job_name: z.string(),
});
export type FoundTest = z.infer<typeof foundTestSchema>;

const detailsSchema = z.object({
  test_name: z.string(),
  test_id: z.string(),
  health_status: z.string(),
  failure_ratio: z.number(),
  flakiness_ratio: z.number(),
  success_ratio: z.number(),
  last_failure_at: z.string().nullable(),
  last_success_at: z.string().nullable(),
  reproduce: z.string().nullish(),
});

export type TestDetails = z.infer<typeof detailsSchema>;

const axesSchema = z.object({
  fails_with: failsWithSchema.loose().nullable(),
});

const failureSchema = z.object({
  id: z.string(),
  failure_count: z.number(),
  exception_type: z.string().nullable(),
  exception_message: z.string().nullable(),
});

const newestFailuresSchema = z.object({
  latest_events: z.array(z.object({ attachments: z.array(attachmentSchema).default([]) })),
});

const eventSchema = z.object({
  received_at: z.string(),
  type: z.string(),
  trigger: z.string().nullish(),
  pull_request: z.number().nullish(),
  metadata: z.record(z.string(), z.unknown()).default({}),
});

const splitSchema = z.object({
  names: z.number(),
  known: z.number(),
  groups: z.array(z.object({ seconds: z.number(), names: z.array(z.string()) })),
  warnings: z.array(z.string()).default([]),
});

const codeownersSchema = z.object({
  problems: z.array(z.object({ line: z.number(), reason: z.string() })).default([]),
});

const changedFilesSchema = z.object({ is_changed: z.boolean() });

const reasonSchema = z.object({ sign: z.string(), sentence: z.string(), factor: z.number() });
const claimsSchema = z.object({
  commit: z.string(),
  compared_with: z.looseObject({
    default_branch: z.string().nullable(),
    runs: z.number(),
    base_commit: z.string().nullable(),
    base_runs: z.number(),
    other_changes: z.number(),
  }),
  total: z.number(),
  claims: z.array(
    z.looseObject({
      test_name: z.string(),
      job_name: z.string(),
      probability: z.number(),
      // A word of a newer service decides nothing.
      verdict: z.enum(['change', 'broken', 'flaky', 'infrastructure', 'unknown']).catch('unknown'),
      for: z.array(reasonSchema),
      against: z.array(reasonSchema),
      needs: z.looseObject({ sentence: z.string() }).nullable(),
      exception_message: z.string().nullable(),
    }),
  ),
  not_found: z.array(z.object({ test: z.string(), sentence: z.string() })).default([]),
});
export type ClaimAnswer = z.infer<typeof claimsSchema>;

/** Fields of the body; either a commit or a pull request. */
export interface ClaimQuestion {
  commit?: string;
  pull_request?: number;
  base_commit?: string;
  changed_files?: readonly string[];
  pipeline_name?: string;
  job_name?: string;
  test_names?: readonly string[];
  report?: { text: string };
  log?: string;
  limit?: number;
}

const PER_PAGE_MAX = 100;
/** More quarantines or failures than a job can mean. */
const PAGES_MAX = 200;

type LegScope = Pick<JobScope, 'pipeline' | 'job' | 'axes'>;

function legQuery({ pipeline, job, axes }: LegScope): URLSearchParams {
  const query = new URLSearchParams({ pipeline_name: pipeline, job_name: job });
  for (const pair of pairsOf(axes) ?? []) query.append('axis', pair);
  return query;
}

export class Repository {
  constructor(
    readonly service: Service,
    readonly owner: string,
    readonly name: string,
  ) {}

  /** Sends a gzipped body to an address of uploads, such as `junit?run_id=1`. */
  upload(path: string, contentType: string, gzipped: Uint8Array): Promise<Receipt> {
    const headers = { 'content-type': contentType, 'content-encoding': 'gzip' };
    return this.ask(path, receiptSchema, { method: 'POST', headers, body: gzipped });
  }

  receipt(id: string): Promise<Receipt> {
    return this.ask(`uploads/${id}`, receiptSchema);
  }

  /** The quarantines that cover every failure of their test in this leg of a job. */
  async quarantines({ branch, baseBranch, ...leg }: JobScope): Promise<QuarantineRecord[]> {
    const branches = [...new Set([branch, baseBranch])].filter((name) => name !== undefined);
    const lists = await Promise.all(
      (branches.length > 0 ? branches : [undefined]).map((name) => this.#quarantinesOn(name, leg)),
    );
    return [...new Map(lists.flat().map((record) => [record.id, record])).values()];
  }

  async #quarantinesOn(branch: string | undefined, leg: LegScope): Promise<QuarantineRecord[]> {
    const query = legQuery(leg);
    if (branch !== undefined) query.set('branch', branch);
    const listed = await this.#list(this.path('quarantines'), query, quarantineSchema, 'quarantined_tests');
    return listed.filter(({ branch: only, failure_ids }) => !failure_ids && (branch !== undefined || !only));
  }

  /** The failed tests of this attempt in this leg of a job, with verdicts. How others failed does not matter to its result. */
  failuresOfCommit(commit: string, { branch, run, ...leg }: RunScope): Promise<CommitFailure[]> {
    const query = legQuery(leg);
    query.set('run_id', run.id);
    query.set('run_attempt', String(run.attempt));
    if (branch !== undefined) query.set('branch', branch);
    const path = this.path(`commits/${encodeURIComponent(commit)}/failures`);
    return this.#list(path, query, commitFailureSchema, 'failures');
  }

  /** Also those that are narrowed to a job, axes or failures. */
  allQuarantines(branch: string | undefined): Promise<QuarantineRecord[]> {
    const query = { narrowed: 'include', ...(branch !== undefined && { branch }) };
    return this.#list(this.path('quarantines'), query, quarantineSchema, 'quarantined_tests');
  }

  /** @param names with wildcards */
  tests(names: readonly string[], max: number): Promise<FoundTest[]> {
    const query = new URLSearchParams();
    for (const name of names) query.append('test_name', name);
    return this.#list(this.path('search/tests'), query, foundTestSchema, 'tests', max);
  }

  details(testId: string): Promise<z.infer<typeof detailsSchema>> {
    return this.ask(`tests/${testId}`, detailsSchema);
  }

  /** Where a test fails. */
  axes(testId: string): Promise<z.infer<typeof axesSchema>> {
    return this.ask(`tests/${testId}/axes`, axesSchema);
  }

  failures(testId: string, max: number): Promise<z.infer<typeof failureSchema>[]> {
    return this.#list(this.path(`tests/${testId}/failures`), {}, failureSchema, 'failures', max);
  }

  /** Links to what was kept of the newest failure of a group. */
  async attachments(testId: string, failureId: string): Promise<Attachment[]> {
    const { latest_events: events } = await this.ask(`tests/${testId}/failures/${failureId}`, newestFailuresSchema);
    return events[0]?.attachments ?? [];
  }

  /** Entries of the event log, newest first. */
  events(query: URLSearchParams, max: number): Promise<z.infer<typeof eventSchema>[]> {
    return this.#list(`/v1/repos/${this.owner}/${this.name}/logs`, query, eventSchema, 'events', max);
  }

  sendCodeowners(file: Record<string, unknown>) {
    return this.ask('codeowners', codeownersSchema, { method: 'PUT', json: file });
  }

  sendChangedFiles(commit: string, files: Record<string, unknown>) {
    return this.ask(`commits/${encodeURIComponent(commit)}/changed-files`, changedFilesSchema, {
      method: 'PUT',
      json: files,
    });
  }

  /** The comment of a pull request is there on a commit. */
  sendCommented(pull: number, commented: { commit_sha: string; branch: string | null }) {
    return this.ask(`pulls/${pull}/comment`, z.unknown(), { method: 'PUT', json: commented });
  }

  sendPullRequests(pullRequests: readonly ImportedPullRequest[]) {
    return this.ask('pull-requests', z.object({ queued: z.number() }), {
      method: 'PUT',
      json: { pull_requests: pullRequests },
    });
  }

  /** Whether a change caused its failures. */
  claims(question: ClaimQuestion): Promise<ClaimAnswer> {
    return this.ask('claims', claimsSchema, { method: 'POST', json: question });
  }

  /** The group of one shard of a run. */
  split(question: { total: number; index: number; names: readonly string[] } & Record<string, unknown>) {
    return this.ask('split', splitSchema, { method: 'POST', json: question });
  }

  /** The pages of a list, until there are enough. */
  async #list<T>(
    path: string,
    query: URLSearchParams | Record<string, string>,
    item: z.ZodType<T>,
    name: string,
    max = Number.POSITIVE_INFINITY,
  ): Promise<T[]> {
    const schema = z.object({ [name]: z.array(item) });
    const items: T[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const asked = new URLSearchParams(query);
      asked.set('per_page', String(Math.min(PER_PAGE_MAX, max)));
      if (cursor !== undefined) asked.set('cursor', cursor);
      const answer = await this.service.askPage(`${path}?${asked}`, schema);
      items.push(...(answer.body[name] ?? []));
      cursor = answer.nextCursor;
      if (cursor === undefined || items.length >= max) break;
    }
    return items.slice(0, max);
  }

  /** The page of a test in the web application. */
  historyUrl(testId: string): string {
    return this.pageOf(`tests/${encodeURIComponent(testId)}`);
  }

  /** A page of the repository in the web application. */
  pageOf(path: string): string {
    return this.service.address(`/app/${this.owner}/${this.name}/${path}`);
  }

  path(path: string): string {
    return `/v1/ci/${this.owner}/repositories/${this.name}/${path}`;
  }

  ask<T>(path: string, schema: z.ZodType<T>, request?: ServiceRequest): Promise<T> {
    return this.service.ask(this.path(path), schema, request);
  }
}
