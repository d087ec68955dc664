/**
 * The common part of all steps of a refresh. A step takes its note away in the transaction that writes what it found, so one
 * that is cut off is done again.
 *
 * After a step, its kind rests for some times as long as the step took, or about a minute if that is less: a job that is
 * always a day late may not keep a worker busy.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Clock } from '../clock.ts';
import { JUDGING_KINDS, type StaleKind } from '../domain/stale.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { type Noted, readStale, settleStale } from '../postgres/stale.ts';

export interface RefreshDeps {
  db: Database;
  clickhouse: ClickHouse;
  clock: Clock;
  quarantines: QuarantineStore;
  /** That are judged again; tests want few. */
  executionsAtOnce?: number | undefined;
}

/** How many times as long as its step took a kind rests. Uploads wait for judgements: one repository takes a quarter of their loop. */
const JUDGING_REST_TIMES = 3;
const REST_TIMES = 10;
/** Totals and causes are read by people, and take seconds of a large repository. */
const READ_REST_TIMES = 30;
/** Causes are derived from all retained failures of a repository, and each of many repositories takes its turn. */
const CAUSES_REST_MS = 10_000;
/** A step that reads weeks takes a hundredth of a worker at most. */
const LONG_REST_TIMES = 100;
/** Proposals of renames read two weeks, and no one waits for them. */
const RENAMES_REST_MS = 600_000;
/** Durations of four weeks hardly change within an hour, and each is read from every execution. */
const DURATIONS_REST_TIMES = 1_000;
const DURATIONS_REST_MS_MAX = HOUR_MS;
/** Late results show within minutes, also where a step takes long; it then rests twice as long as it took. */
const REST_MS_MAX = 60_000;

/** How a repository is refreshed. */
export interface RefreshOptions {
  /** See `holdPartitionOf`. */
  waitMs?: number;
  /** Whether no further step may begin; each takes seconds of a large repository. */
  isStopped?: () => boolean;
}

/** A note, and when the step that it is for began. */
export interface Step extends Noted {
  startedAt: number;
}

export class RefreshSteps {
  /** @param isHasty nothing rests or waits; tests do that */
  constructor(
    readonly deps: RefreshDeps,
    readonly isHasty: boolean,
  ) {}

  /** Stale kinds of a repository that may be refreshed now. */
  async due(tx: Executor, repositoryId: string): Promise<Map<StaleKind, Step>> {
    const startedAt = performance.now();
    const noted = (await readStale(tx, [repositoryId])).get(repositoryId) ?? new Map<StaleKind, Noted>();
    return new Map(
      [...noted].flatMap(([kind, note]) => (note.isRested || this.isHasty ? [[kind, { ...note, startedAt }]] : [])),
    );
  }

  /** In a transaction that holds the lock of the partition. */
  locked<T>(repositoryId: string, act: (tx: Executor) => Promise<T>): Promise<T> {
    return onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        await lockPartitionsOf(tx, repositoryId);
        return act(tx);
      }),
    );
  }

  /**
   * One step under the lock of the partition.
   *
   * @param act returns whether nothing of its kind is left to do
   * @returns whether something is
   */
  step(repositoryId: string, kind: StaleKind, act: (tx: Executor, noted: Noted) => Promise<boolean>): Promise<boolean> {
    return this.locked(repositoryId, async (tx) => {
      const step = (await this.due(tx, repositoryId)).get(kind);
      if (!step) return false;
      if (!(await act(tx, step))) return true;
      await this.settle(tx, repositoryId, kind, step);
      return false;
    });
  }

  /** Takes the note away, and lets the kind rest. */
  settle(tx: Executor, repositoryId: string, kind: StaleKind, { startedAt, revision }: Step): Promise<void> {
    return settleStale(tx, repositoryId, kind, { restMs: this.#restOf(kind, startedAt), revision });
  }

  #restOf(kind: StaleKind, startedAt: number): number {
    if (this.isHasty) return 0;
    const tookMs = performance.now() - startedAt;
    if (kind === 'totals') return READ_REST_TIMES * tookMs;
    if (kind === 'causes') return Math.max(CAUSES_REST_MS, READ_REST_TIMES * tookMs);
    if (kind === 'renames') return Math.max(RENAMES_REST_MS, LONG_REST_TIMES * tookMs);
    if (kind === 'durations') {
      const atMost = Math.max(DURATIONS_REST_MS_MAX, LONG_REST_TIMES * tookMs);
      return Math.max(CAUSES_REST_MS, Math.min(DURATIONS_REST_TIMES * tookMs, atMost));
    }
    const times = JUDGING_KINDS.some((judging) => judging === kind) ? JUDGING_REST_TIMES : REST_TIMES;
    return Math.min(times * tookMs, Math.max(REST_MS_MAX, 2 * tookMs));
  }
}
