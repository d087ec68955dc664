/** The figures of tests that may be quarantined, or released. */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import type { QuarantineEvidence } from '../domain/quarantine-rules.ts';
import { type Identity, identityKey } from './store.ts';

const since = { repository_id: 'UUID', test_ids: 'Array(UUID)', since_ms: 'Array(Int64)' } as const;

/** Without the health, which the fold knows. */
export type Figures = Identity & Omit<QuarantineEvidence, 'health'> & { testName: string };

const evidence = defineQuery(
  'evaluation/quarantine_evidence',
  since,
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
  { ...since, until_ms: 'Int64' },
  z
    .object({ test_id: z.string(), pipeline_name: z.string(), job_name: z.string(), passes: z.number() })
    .transform((row) => ({
      testId: row.test_id,
      pipelineName: row.pipeline_name,
      jobName: row.job_name,
      passes: row.passes,
    })),
);

export class FigureStore {
  constructor(
    private readonly clickhouse: ClickHouse,
    private readonly repositoryId: string,
    /** Executions that finished later do not count; by default all do. */
    private readonly until = Number.MAX_SAFE_INTEGER,
  ) {}

  /** What the identities of each test have shown after its moment. */
  async figures(since: ReadonlyMap<string, number>): Promise<Figures[]> {
    return since.size === 0 ? [] : this.clickhouse.select(evidence, this.#since(since));
  }

  /** How often each identity passed after the moment of its test and up to `until`, by `identityKey`. */
  async passes(since: ReadonlyMap<string, number>): Promise<Map<string, number>> {
    if (since.size === 0) return new Map();
    const rows = await this.clickhouse.select(passes, { ...this.#since(since), until_ms: this.until });
    return new Map(rows.map((row) => [identityKey(row), row.passes]));
  }

  #since(since: ReadonlyMap<string, number>) {
    return { repository_id: this.repositoryId, test_ids: [...since.keys()], since_ms: [...since.values()] };
  }
}
