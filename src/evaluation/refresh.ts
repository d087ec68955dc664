/**
 * Puts right what passes have left stale (src/domain/stale.ts), one repository at a time.
 *
 *     judgements: evidence ─► judgements ─► beginnings ─► owners ─► quarantines
 *     summaries:  totals ─► records of commits ─► causes ─► durations ─► renames
 *
 * Uploads wait for judgements until they are stored, and no upload waits for summaries: a repository is judged without
 * waiting for the summaries of another. With 300 repositories and 6,000 executions a second on two processors, 95 in 100
 * reports are stored within 1.9 s (docs/capacity.md); one loop for both, without pauses, took 62 s.
 */
import { ShardByShard } from '../clickhouse/shards.ts';
import { REFRESHES, type RefreshName } from '../domain/stale.ts';
import { refreshSeconds } from '../observability/metrics.ts';
import { onPostgres } from '../postgres/client.ts';
import { nextStale } from '../postgres/stale.ts';
import { JudgementsRefresh } from './refresh-judgements.ts';
import { type RefreshDeps, RefreshSteps } from './refresh-steps.ts';
import { SummariesRefresh } from './refresh-summaries.ts';

/** After a repository, the loop pauses for so many times as long as it took: summaries take about a quarter of its time. */
const PAUSE_TIMES: Record<RefreshName, number> = { judgements: 0, summaries: 3 };
/** A stop waits for no longer. Summaries of a large repository take more than a quarter, and then rest. */
const PAUSE_MS_MAX = 1_000;

interface RepositoryRefresh {
  /**
   * @param isPatient waits for who holds the partition of the repository
   * @returns whether something that is due is left
   */
  refresh(repositoryId: string, isPatient: boolean): Promise<boolean>;
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
    await this.round('judgements', isStopped);
    await this.round('summaries', isStopped);
  }

  /** Refreshes what is due of a repository. Returns whether it has more commits than one step reads. */
  async refresh(repositoryId: string): Promise<boolean> {
    const hasMoreEvidence = await this.#refreshes.judgements.refresh(repositoryId, true);
    const hasMoreRecords = await this.#refreshes.summaries.refresh(repositoryId, true);
    return hasMoreEvidence || hasMoreRecords;
  }

  /**
   * Refreshes every repository of which something is due. A repository with more than one step takes has another turn after
   * the others. So has one that another process holds, and that turn then waits for it.
   */
  async round(name: RefreshName, isStopped: () => boolean): Promise<void> {
    const { db, clickhouse } = this.#steps.deps;
    const shards = new ShardByShard(clickhouse);
    let isMoreLeft = true;
    for (let isPatient = false; isMoreLeft && !isStopped(); isPatient = true) {
      isMoreLeft = false;
      const done: string[] = [];
      while (!isStopped()) {
        const id = await onPostgres(() => nextStale(db, REFRESHES[name], this.#steps.isHasty, done));
        if (id === undefined) break;
        done.push(id);
        const measured = refreshSeconds.startTimer({ of: name });
        const refresh = () => this.#refreshes[name].refresh(id, isPatient);
        if (await shards.attempt(await clickhouse.shardOf(id), refresh)) isMoreLeft = true;
        const pauseMs = PAUSE_TIMES[name] * measured() * 1_000;
        if (!this.#steps.isHasty) await Bun.sleep(Math.min(pauseMs, PAUSE_MS_MAX));
      }
    }
    shards.rethrow();
  }
}
