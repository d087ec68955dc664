/**
 * The runs of commits: attempts of CI jobs by UTC day, on any branch. Every CI job asks for those of its commit when it
 * ends, and many end together: commits that are asked for at the same time share the statement.
 */
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineQuery } from '../clickhouse/query.ts';
import { mayBeTroubled } from '../domain/infrastructure.ts';
import type { Repository } from '../postgres/repositories.ts';
import { RepositoryBatches } from './batches.ts';

/** What names a run within its commit. */
export const runFields = {
  day_number: z.int(),
  pipeline_name: z.string(),
  job_name: z.string(),
  run_id: z.string(),
  run_attempt: z.int(),
};
const runRow = z.object({
  ...runFields,
  commit_sha: z.string(),
  on_default: z.boolean(),
  branch: z.string(),
  base_ref: z.string(),
  pull_request: z.int(),
  job_url: z.string(),
  started_ms: z.int(),
  ended_ms: z.int(),
  passed: z.int(),
  failed: z.int(),
  skipped: z.int(),
  failed_tests: z.array(z.string()),
});
export type CommitRun = z.infer<typeof runRow>;

const commitRuns = defineQuery('insights/commit_runs', { repository_id: 'UUID', commits: 'Array(String)' }, runRow);
const troubles = defineQuery(
  'insights/troubles',
  { repository_id: 'UUID', days: 'Array(UInt16)' },
  z.object({ ...runFields, run_trouble: z.enum(['partial', 'total']) }),
);
type TroubledRun = z.infer<(typeof troubles)['row']>;

export class CommitRuns {
  readonly #runs: RepositoryBatches<string, CommitRun[]>;
  readonly #troubles: RepositoryBatches<number, TroubledRun[]>;

  constructor(clickhouse: ClickHouse) {
    this.#runs = new RepositoryBatches(({ id, owner }) => async (take, signal) => {
      const commits: string[] = [];
      const valuesOf = () => {
        commits.push(...take());
        return { repository_id: id, commits: [...new Set(commits)] };
      };
      const rows = await clickhouse.select(commitRuns, valuesOf, { owner, signal });
      const byCommit = Map.groupBy(rows, ({ commit_sha: commit }) => commit);
      return commits.map((commit) => byCommit.get(commit));
    });
    this.#troubles = new RepositoryBatches(({ id, owner }) => async (take, signal) => {
      const days: number[] = [];
      const valuesOf = () => {
        days.push(...take());
        return { repository_id: id, days: [...new Set(days)] };
      };
      const rows = await clickhouse.select(troubles, valuesOf, { owner, signal });
      const byDay = Map.groupBy(rows, ({ day_number: day }) => day);
      return days.map((day) => byDay.get(day));
    });
  }

  async of(repository: Repository, commit: string, signal?: AbortSignal): Promise<CommitRun[]> {
    return merged((await this.#runs.get(repository, commit, signal)) ?? []);
  }

  /**
   * The trouble of those that the evaluation judged troubled, by {@link runKey}. It judges runs of the default branch, and
   * hardly any allow for trouble, so this is seldom asked.
   */
  async troublesOf(
    repository: Repository,
    runs: readonly CommitRun[],
    signal?: AbortSignal,
  ): Promise<Map<string, TroubledRun['run_trouble']>> {
    const days = new Set(
      runs
        .filter((run) => run.on_default && mayBeTroubled({ ...run, startedAt: run.started_ms }))
        .map(({ day_number: day }) => day),
    );
    const found = await Promise.all([...days].map((day) => this.#troubles.get(repository, day, signal)));
    return new Map(found.flatMap((of = []) => of.map((run) => [runKey(run), run.run_trouble] as const)));
  }
}

/** Names a run within its commit. */
export const runKey = (row: Pick<CommitRun, keyof typeof runFields>): string =>
  JSON.stringify([row.day_number, row.pipeline_name, row.job_name, row.run_id, row.run_attempt]);

/** One for each run, of the rows that its uploads left: as the table merges them. */
function merged(rows: readonly CommitRun[]): CommitRun[] {
  const groups = Map.groupBy(rows, (row) => `${row.on_default} ${runKey(row)}`);
  return [...groups.values()].flatMap((group): CommitRun[] => {
    const [first] = group;
    if (!first || group.length === 1) return group;
    const total = (of: (row: CommitRun) => number): number => group.reduce((sum, row) => sum + of(row), 0);
    return [
      {
        ...first,
        branch: greatest(group.map(({ branch }) => branch)),
        base_ref: greatest(group.map(({ base_ref }) => base_ref)),
        pull_request: Math.max(...group.map(({ pull_request }) => pull_request)),
        job_url: greatest(group.map(({ job_url }) => job_url)),
        started_ms: Math.min(...group.map(({ started_ms }) => started_ms)),
        ended_ms: Math.max(...group.map(({ ended_ms }) => ended_ms)),
        passed: total(({ passed }) => passed),
        failed: total(({ failed }) => failed),
        skipped: total(({ skipped }) => skipped),
        failed_tests: [...new Set(group.flatMap(({ failed_tests }) => failed_tests))],
      },
    ];
  });
}

/** In the order of bytes, in which the table compares texts. */
const greatest = (texts: readonly string[]): string =>
  texts.reduce((one, other) => (Buffer.compare(Buffer.from(one), Buffer.from(other)) < 0 ? other : one));
