/**
 * Puts right what passes have left stale (src/domain/stale.ts), one repository at a time.
 *
 *     judgements: evidence ─► judgements ─► beginnings ─► owners ─► quarantines
 *     summaries:  totals ─► records of commits ─► causes ─► durations ─► renames
 *
 * Uploads wait for judgements until they are stored, and no upload waits for summaries. So a repository is judged without
 * waiting for the summaries of another, or for an import in another partition. Measured:
 * - Beside an import, 99 in 100 uploads are stored within 1.2 s. Where they wait for it, it is 6.1 s (docs/performance.md,
 *   *Imports*).
 * - With 300 repositories and 6,000 executions a second on two processors, 95 in 100 reports are stored within 1.9 s
 *   (docs/capacity.md). With one loop for both and without pauses, it was 62 s.
 */
import { ShardByShard } from '../clickhouse/shards.ts';
import { REFRESHES, type RefreshName } from '../domain/stale.ts';
import { refreshSeconds } from '../observability/metrics.ts';
import { onPostgres } from '../postgres/client.ts';
import { nextStale } from '../postgres/stale.ts';
import { JudgementsRefresh } from './refresh-judgements.ts';
import { type RefreshDeps, type RefreshOptions, RefreshSteps } from './refresh-steps.ts';
import { SummariesRefresh } from './refresh-summaries.ts';

/** After a repository, the loop pauses for so many times as long as it took: summaries take about a quarter of its time. */
const PAUSE_TIMES: Record<RefreshName, number> = { judgements: 0, summaries: 3 };
/** A stop waits for no longer. Summaries of a large repository take more than a quarter, and then rest. */
const PAUSE_MS_MAX = 1_000;
/** A turn waits so long for a partition that is held, and another repository that becomes due meanwhile waits no longer. */
const HELD_WAIT_MS = 100;

/** A loop makes one kind of round. */
export interface RefreshRound {
  name: RefreshName;
  /** Only what follows from imported results alone, or only the rest; absent: both. */
  isOfImports?: boolean;
}

interface RepositoryRefresh {
  /** Returns whether something that is due is left. */
  refresh(repositoryId: string, options?: RefreshOptions): Promise<boolean>;
}

export class Refresh {
  readonly #steps: RefreshSteps;
  readonly #refreshes: Record<RefreshName, RepositoryRefresh>;

  /** @param isHasty nothing rests or waits; tests do that */
  constructor(deps: RefreshDeps, isHasty = false) {
    this.#steps = new RefreshSteps(deps, isHasty);
    this.#refreshes = {
      judgements: new JudgementsRefresh(this.#steps),
      summaries: new SummariesRefresh(this.#steps),
    };
  }

  /** Refreshes every repository that is due. */
  async all(isStopped: () => boolean = () => false): Promise<void> {
    await this.round({ name: 'judgements' }, isStopped);
    await this.round({ name: 'summaries' }, isStopped);
  }

  /** Refreshes what is due of a repository. Returns whether it has more commits than one step reads. */
  async refresh(repositoryId: string): Promise<boolean> {
    const hasMoreEvidence = await this.#refreshes.judgements.refresh(repositoryId);
    const hasMoreRecords = await this.#refreshes.summaries.refresh(repositoryId);
    return hasMoreEvidence || hasMoreRecords;
  }

  /**
   * Refreshes every repository of which something is due. A repository with more than one step takes has another turn after
   * the others. So has one whose partition is held, and that turn waits for it a little.
   */
  async round({ name, isOfImports: isImported }: RefreshRound, isStopped: () => boolean): Promise<void> {
    const { db, clickhouse } = this.#steps.deps;
    const { isHasty } = this.#steps;
    const kinds = REFRESHES[name];
    const shards = new ShardByShard(clickhouse);
    let isMoreLeft = true;
    for (let waitMs = 0; isMoreLeft && !isStopped(); waitMs = HELD_WAIT_MS) {
      isMoreLeft = false;
      const done: string[] = [];
      while (!isStopped()) {
        const id = await onPostgres(() => nextStale(db, { kinds, isImported, isHasty, except: done }));
        if (id === undefined) break;
        done.push(id);
        const measured = refreshSeconds.startTimer({ of: name });
        const refresh = () => this.#refreshes[name].refresh(id, { waitMs, isStopped });
        if (await shards.attempt(await clickhouse.shardOf(id), refresh)) isMoreLeft = true;
        const pauseMs = PAUSE_TIMES[name] * measured() * 1_000;
        if (!isHasty) await Bun.sleep(Math.min(pauseMs, PAUSE_MS_MAX));
      }
    }
    shards.rethrow();
  }
}
