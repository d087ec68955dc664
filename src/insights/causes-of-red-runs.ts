/** The causes of the failures in the red runs of a window: what their cost is shared out among by cause. */
import { NIL } from 'uuid';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { signatureOf } from '../domain/cause-signature.ts';
import { runKeyOf } from '../domain/cost.ts';
import { inSlices } from '../in-slices.ts';
import { causesOfGroups, causesOfSignatures } from '../postgres/causes.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { InsightsDeps } from './common.ts';
import { type GroupName, groupKey } from './failure-evidence.ts';
import { earliestOf, type LedgerWindow } from './red-run-ledger.ts';

/** Kept as long as the red runs themselves. */
const KEPT_MS = 60_000;
const KEPT_MAX = 50;
/** Groups that only other branches have shown, whose texts are read at once: at most 8 MB. */
const TEXTS_AT_ONCE = 1_000;
/** So many of them are looked up; of more, the others have no cause. */
const TEXTS_MAX = 20_000;

const redRunFailures = defineQuery(
  'insights/red_run_failures',
  { repository_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64' },
  z.object({
    pipeline_name: z.string(),
    job_name: z.string(),
    axes: z.string(),
    run_id: z.string(),
    run_attempt: z.int(),
    commit_sha: z.string(),
    on_default: z.union([z.boolean(), z.int()]).transform(Boolean),
    test_id: z.string(),
    failure_ids: z.array(z.string()),
  }),
);
const textsOfGroups = defineQuery(
  'insights/texts_of_groups',
  { repository_id: 'UUID', test_ids: 'Array(UUID)', failure_ids: 'Array(UUID)' },
  z.object({ test_id: z.string(), failure_id: z.string(), type: z.string(), message: z.string() }),
);

/** The causes of what failed for a test in a run, by `runKeyOf` and test; null stands for failures without one. */
export type CausesOfRedRuns = (runKey: string, testId: string) => readonly (string | null)[];

const NO_CAUSE: readonly null[] = [null];

export class RedRunCauses {
  readonly #kept = new TtlCache<CausesOfRedRuns>(KEPT_MS, KEPT_MAX);

  constructor(private readonly deps: Pick<InsightsDeps, 'clickhouse' | 'db'>) {}

  /** Up to a minute old. */
  of(repository: Repository, { start, end }: Omit<LedgerWindow, 'branches'>): Promise<CausesOfRedRuns> {
    return this.#kept.get(JSON.stringify([repository.id, start, end]), () =>
      this.#read(repository, earliestOf(start), end),
    );
  }

  async #read(repository: Repository, start: number, end: number): Promise<CausesOfRedRuns> {
    const { id, owner } = repository;
    const values = { repository_id: id, start_ms: start, end_ms: end };
    // Without the signal of a request: another one may wait for the same answer.
    const rows = await this.deps.clickhouse.select(redRunFailures, values, { owner });
    const groups = new Map(
      rows.flatMap(({ test_id: testId, failure_ids: failureIds }) =>
        failureIds
          .filter((failureId) => failureId !== NIL)
          .map((failureId) => [groupKey({ testId, failureId }), { testId, failureId }]),
      ),
    );
    const causes = await this.#causesOf(repository, groups);
    const found = new Map(
      rows.map((row) => {
        const ofTest = row.failure_ids.map(
          (failureId) => causes.get(groupKey({ testId: row.test_id, failureId })) ?? null,
        );
        return [JSON.stringify([runKeyOf(row), row.test_id]), [...new Set(ofTest)]];
      }),
    );
    return (runKey, testId) => found.get(JSON.stringify([runKey, testId])) ?? NO_CAUSE;
  }

  /** Of groups that the default branch has shown, their own; of others, that of their signature. */
  async #causesOf(repository: Repository, groups: ReadonlyMap<string, GroupName>): Promise<Map<string, string>> {
    const { db } = this.deps;
    const testIds = [...new Set([...groups.values()].map(({ testId }) => testId))];
    const stored = await onPostgres(() => causesOfGroups(db, repository.id, testIds));
    const causes = new Map(stored.map((group) => [groupKey(group), group.causeId]));
    const others = [...groups].flatMap(([key, group]) => (causes.has(key) ? [] : [group])).slice(0, TEXTS_MAX);
    const signatures = await this.#signaturesOf(repository, others);
    const bySignature = await onPostgres(() =>
      causesOfSignatures(db, repository.id, [...new Set(signatures.values())]),
    );
    for (const [key, signature] of signatures) {
      const cause = bySignature.get(signature);
      if (cause !== undefined) causes.set(key, cause);
    }
    return causes;
  }

  async #signaturesOf({ id, owner }: Repository, groups: readonly GroupName[]): Promise<Map<string, string>> {
    const signatures = new Map<string, string>();
    for (let from = 0; from < groups.length; from += TEXTS_AT_ONCE) {
      const some = groups.slice(from, from + TEXTS_AT_ONCE);
      const asked = {
        repository_id: id,
        test_ids: [...new Set(some.map(({ testId }) => testId))],
        failure_ids: some.map(({ failureId }) => failureId),
      };
      const texts = await this.deps.clickhouse.select(textsOfGroups, asked, { owner });
      await inSlices(
        (function* (): Generator<undefined, void> {
          for (const { test_id: testId, failure_id: failureId, type, message } of texts) {
            signatures.set(groupKey({ testId, failureId }), signatureOf(id, testId, type, message).id);
            yield;
          }
        })(),
      );
    }
    return signatures;
  }
}
