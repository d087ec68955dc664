/** What tests have shown that may be quarantined or released, counted in ClickHouse. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { QuarantineEvidence } from '../domain/quarantine-rules.ts';
import { type Identity, identityKey } from './store.ts';

const parameters = { repository_id: 'UUID', test_ids: 'Array(UUID)', since_ms: 'Array(Int64)' } as const;

/** The evidence on one identity, without its health: that comes from the fold. */
export type IdentityEvidence = Identity & Omit<QuarantineEvidence, 'health'> & { testName: string };

const evidence = defineQuery(
  'evaluation/quarantine_evidence',
  parameters,
  z
    .object({
      test_id: z.string(),
      pipeline_name: z.string(),
      job_name: z.string(),
      test_name: z.string(),
      executions: z.number(),
      failures: z.number(),
      first_ms: z.number(),
      newest_ms: z.number(),
      flaky_commits: z.number(),
      broken_commits: z.number(),
      broken_first_ms: z.number(),
      broken_newest_ms: z.number(),
    })
    .transform((row) => ({
      testId: row.test_id,
      pipelineName: row.pipeline_name,
      jobName: row.job_name,
      testName: row.test_name,
      executions: row.executions,
      failures: row.failures,
      firstAt: row.first_ms,
      newestAt: row.newest_ms,
      flakyCommits: row.flaky_commits,
      brokenCommits: row.broken_commits,
      brokenFirstAt: row.broken_first_ms,
      brokenNewestAt: row.broken_newest_ms,
    })),
);
const passes = defineQuery(
  'evaluation/passes_since',
  { ...parameters, until_ms: 'Int64' },
  z
    .object({ test_id: z.string(), pipeline_name: z.string(), job_name: z.string(), passes: z.number() })
    .transform((row) => ({
      testId: row.test_id,
      pipelineName: row.pipeline_name,
      jobName: row.job_name,
      passes: row.passes,
    })),
);

export class QuarantineEvidenceStore {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly repositoryId: string,
    /** Executions that finished later do not count. By default, all count. */
    private readonly until = Number.MAX_SAFE_INTEGER,
  ) {}

  /** What the identities of each test have shown since the moment given for the test. */
  async since(since: ReadonlyMap<string, number>): Promise<IdentityEvidence[]> {
    return since.size === 0 ? [] : this.clickhouse.select(evidence, this.#parameters(since));
  }

  /** How often each identity passed since the moment given for its test, by `identityKey`. */
  async passes(since: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    if (since.size === 0) return new Map();
    const rows = await this.clickhouse.select(passes, { ...this.#parameters(since), until_ms: this.until });
    return new Map(rows.map((row) => [identityKey(row), row.passes]));
  }

  #parameters(since: ReadonlyMap<string, number>) {
    return { repository_id: this.repositoryId, test_ids: [...since.keys()], since_ms: [...since.values()] };
  }
}
