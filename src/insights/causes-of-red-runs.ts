/** The causes of the failures in the red runs of a window: what their cost is shared out among by cause. */
import { LRUCache } from 'lru-cache';
import { NIL } from 'uuid';
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { signatureOf } from '../domain/cause-signature.ts';
import { runKeyOf } from '../domain/cost.ts';
import { DAY_MS } from '../domain/time.ts';
import { inSlices } from '../in-slices.ts';
import { piecesOf } from '../pieces.ts';
import { causesOfGroups, causesOfSignatures } from '../postgres/causes.ts';
import { onPostgres } from '../postgres/client.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { InsightsDeps } from './common.ts';
import { type Days, DayValues } from './day-values.ts';
import { type GroupName, groupKey } from './failure-evidence.ts';
import { earliestOf, type LedgerWindow } from './red-run-ledger.ts';
import { namedRun } from './run-days.ts';

/** Kept as long as the red runs themselves. */
const KEPT_MS = 60_000;
const KEPT_MAX = 50;
/** Groups that only other branches have shown, whose texts are read at once: at most 8 MB. */
const TEXTS_AT_ONCE = 1_000;
/** So many of them are read for an answer; of more, the others have no cause in it. */
const TEXTS_MAX = 20_000;
/** Of so many groups, signatures are kept: the texts of a group all have the same one. They take 15 MB. */
const SIGNATURES_MAX = 50_000;
/** A repository with 36,000 red runs of two tests in 90 days takes 20 MB. */
const BYTES_MAX = 64_000_000;
const RUN_BYTES = 300;
const TEST_BYTES = 150;

const redRunFailures = defineQuery(
  'insights/red_run_failures',
  { repository_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64' },
  namedRun
    .extend({
      day_number: z.int(),
      tests: z.array(z.object({ test_id: z.string(), failure_ids: z.array(z.string()) })),
    })
    .transform(({ day_number: day, tests, ...run }) => ({ day, key: runKeyOf(run), tests })),
);
/** What failed in a red run on one of its days: its tests with their failure groups. */
type FailedRun = z.output<(typeof redRunFailures)['row']>;
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
  readonly #days: DayValues<readonly FailedRun[]>;
  readonly #signatures = new LRUCache<string, string>({ max: SIGNATURES_MAX });

  constructor(private readonly deps: Pick<InsightsDeps, 'clickhouse' | 'db'>) {
    this.#days = new DayValues(deps.clickhouse, { bytesMax: BYTES_MAX, bytesOf });
  }

  /** Up to a minute old. */
  of(repository: Repository, { start, end }: Omit<LedgerWindow, 'branches'>): Promise<CausesOfRedRuns> {
    // A run that began on the last day may have failed on the next.
    const window = { start: earliestOf(start), end: end + DAY_MS };
    return this.#kept.get(JSON.stringify([repository.id, start, end]), () => this.#read(repository, window));
  }

  async #read(repository: Repository, window: Days): Promise<CausesOfRedRuns> {
    const { id, owner } = repository;
    // Without the signal of a request: another one may wait for the same answer.
    const turn = { owner };
    const days = await this.#days.of({ repository, filters: [], window, turn }, async ({ start, end }) => {
      const values = { repository_id: id, start_ms: start, end_ms: end };
      return Map.groupBy(await this.deps.clickhouse.select(redRunFailures, values, turn), ({ day }) => day);
    });
    const groups = new Map<string, GroupName>();
    const failed = new Map<string, string[]>();
    for (const { key: runKey, tests } of days.flat())
      for (const { test_id: testId, failure_ids: failureIds } of tests) {
        const keys = failureIds.map((failureId) => {
          const key = groupKey({ testId, failureId });
          if (failureId !== NIL) groups.set(key, { testId, failureId });
          return key;
        });
        const ofTest = failedKey(runKey, testId);
        failed.set(ofTest, [...(failed.get(ofTest) ?? []), ...keys]);
      }
    const causes = await this.#causesOf(repository, groups);
    return (runKey, testId) => {
      const keys = failed.get(failedKey(runKey, testId));
      return keys ? [...new Set(keys.map((key) => causes.get(key) ?? null))] : NO_CAUSE;
    };
  }

  /** Of groups that the default branch has shown, their own; of others, that of their signature. */
  async #causesOf(repository: Repository, groups: ReadonlyMap<string, GroupName>): Promise<Map<string, string>> {
    const { db } = this.deps;
    const testIds = [...new Set([...groups.values()].map(({ testId }) => testId))];
    const stored = await onPostgres(() => causesOfGroups(db, repository.id, testIds));
    const causes = new Map(stored.map((group) => [groupKey(group), group.causeId]));
    const others = [...groups].flatMap(([key, group]) => (causes.has(key) ? [] : [group]));
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
    const kept = this.#signatures;
    const signatures = new Map<string, string>();
    const unknown = groups.filter((group) => {
      const key = groupKey(group);
      const known = kept.get(key);
      if (known !== undefined) signatures.set(key, known);
      return known === undefined;
    });
    for (const some of piecesOf(unknown.slice(0, TEXTS_MAX), TEXTS_AT_ONCE)) {
      const asked = {
        repository_id: id,
        test_ids: [...new Set(some.map(({ testId }) => testId))],
        failure_ids: some.map(({ failureId }) => failureId),
      };
      const texts = await this.deps.clickhouse.select(textsOfGroups, asked, { owner });
      await inSlices(
        (function* (): Generator<undefined, void> {
          for (const { test_id: testId, failure_id: failureId, type, message } of texts) {
            const key = groupKey({ testId, failureId });
            const signature = signatureOf(id, testId, type, message).id;
            signatures.set(key, signature);
            kept.set(key, signature);
            yield;
          }
        })(),
      );
    }
    return signatures;
  }
}

const failedKey = (runKey: string, testId: string): string => `${testId} ${runKey}`;

const bytesOf = (runs: readonly FailedRun[]): number =>
  runs.reduce((sum, { tests }) => sum + RUN_BYTES + TEST_BYTES * tests.length, 0);
