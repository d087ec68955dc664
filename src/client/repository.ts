/** What CI jobs ask of a repository: one method for each address of the API that the client uses. */
import { z } from 'zod';
import type { Service, ServiceRequest } from './service.ts';

/** What a request about a job is narrowed to. */
export interface JobScope {
  pipeline: string;
  job: string;
  branch: string | undefined;
}

/** The fields of a receipt, of which the answer to an upload has some. Counts are null while unknown. */
const receiptSchema = z.object({
  id: z.string(),
  status: z.string(),
  executions: z.number().nullish(),
  accepted: z.number().nullish(),
  duplicate: z.number().nullish(),
  rejected: z.number().nullish(),
  rejections: z.array(z.object({ reason: z.string(), count: z.number() })).default([]),
  warnings: z.array(z.string()).default([]),
  failure: z.string().nullish(),
});
export type Receipt = z.infer<typeof receiptSchema>;

// Fields of newer services are ignored, and those that older ones do not have may be missing.

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
  failure_ids: z.array(z.string()).nullish(),
  expires_at: z.string().nullish(),
  owner: z.string().nullish(),
  ticket_url: z.string().nullish(),
});
export type QuarantineRecord = z.infer<typeof quarantineSchema>;

const commitFailureSchema = z.object({
  // A word of a newer service is no excuse.
  verdict: z.enum(['new', 'broken', 'known_flaky', 'infrastructure', 'quarantined']).catch('new'),
  test_id: z.string(),
  test_name: z.string(),
  evidence: z.object({
    health_status: z.string().nullable(),
    default_branch_failures: z.number(),
    default_branch_last_failure_at: z.string().nullable(),
    run_failed: z.number(),
    run_passed: z.number(),
  }),
});
export type CommitFailure = z.infer<typeof commitFailureSchema>;

const PER_PAGE = '100';
/** More quarantines or failures than a job can mean. */
const PAGES_MAX = 200;

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

  /** The quarantines that cover every failure of their test in this job. */
  async quarantines({ pipeline, job, branch }: JobScope): Promise<QuarantineRecord[]> {
    const query = { pipeline_name: pipeline, job_name: job, ...(branch !== undefined && { branch }) };
    const listed = await this.list('quarantines', query, quarantineSchema, 'quarantined_tests');
    return listed.filter(({ branch: only, failure_ids }) => !failure_ids && (branch !== undefined || !only));
  }

  /** The failed tests of a commit in this job, with verdicts. */
  failuresOfCommit(commit: string, { pipeline, job, branch }: JobScope): Promise<CommitFailure[]> {
    const query = { pipeline_name: pipeline, job_name: job, ...(branch !== undefined && { branch }) };
    return this.list(`commits/${encodeURIComponent(commit)}/failures`, query, commitFailureSchema, 'failures');
  }

  /** Every page of a list. */
  async list<T>(path: string, query: Record<string, string>, item: z.ZodType<T>, name: string): Promise<T[]> {
    const schema = z.object({ [name]: z.array(item) });
    const items: T[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES_MAX; page++) {
      const asked = new URLSearchParams({ ...query, per_page: PER_PAGE, ...(cursor !== undefined && { cursor }) });
      const answer = await this.service.askPage(this.path(`${path}?${asked}`), schema);
      items.push(...(answer.body[name] ?? []));
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
    return items;
  }

  /** Of the history of a test. */
  historyUrl(testId: string): string {
    return this.service.address(this.path(`tests/${testId}`));
  }

  path(path: string): string {
    return `/v1/ci/${this.owner}/repositories/${this.name}/${path}`;
  }

  ask<T>(path: string, schema: z.ZodType<T>, request?: ServiceRequest): Promise<T> {
    return this.service.ask(this.path(path), schema, request);
  }
}
