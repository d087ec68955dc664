/**
 * Puts right what passes have left stale (src/domain/stale.ts), one repository at a time.
 *
 *     judgements: evidence ─► judgements ─► beginnings ─► owners ─► quarantines
 *     summaries:  totals ─► records of commits ─► causes ─► durations ─► renames
 *
 * Uploads wait for judgements until they are stored, and no upload waits for summaries: a repository is judged without
 * waiting for the summaries of another.
 */
import { ShardByShard } from '../clickhouse/shards.ts';
import { REFRESHES, type RefreshName } from '../domain/stale.ts';
import { refreshSeconds } from '../observability/metrics.ts';
import { onPostgres } from '../postgres/client.ts';
import { nextStale } from '../postgres/stale.ts';
import { JudgementsRefresh } from './refresh-judgements.ts';
import { type RefreshDeps, RefreshSteps } from './refresh-steps.ts';
import { SummariesRefresh } from './refresh-summaries.ts';

export type { RefreshDeps };

/** After the summaries of a repository, their loop pauses for so many times as long as they took: they take a quarter of a worker. */
const PAUSE_TIMES = 3;
/** After those of a large repository, their kinds rest; and a stop does not wait long. */
const PAUSE_MS_MAX = 1_000;

export class Refresh {
  readonly #steps: RefreshSteps;
  readonly #judgements: JudgementsRefresh;
  readonly #summaries: SummariesRefresh;

  /** @param isHasty nothing rests or waits; tests do that */
  constructor(deps: RefreshDeps, isHasty = false) {
    this.#steps = new RefreshSteps(deps, isHasty);
    this.#judgements = new JudgementsRefresh(this.#steps);
    this.#summaries = new SummariesRefresh(this.#steps);
  }

  /** Refreshes every repository that is due. */
  async all(isStopped: () => boolean = () => false): Promise<void> {
    await this.round('judgements', isStopped);
    await this.round('summaries', isStopped);
  }

  /** Refreshes what is due of a repository. Returns whether it has more commits than one step reads. */
  async refresh(repositoryId: string): Promise<boolean> {
    const hasMoreEvidence = await this.#judgements.refresh(repositoryId);
    const hasMoreRecords = await this.#summaries.refresh(repositoryId);
    return hasMoreEvidence || hasMoreRecords;
  }

  /**
   * Refreshes every repository of which something is due; one with more than a step takes again, once the others had their
   * turn. So has one that another process holds: it waits for that one only when nothing else is due.
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
        const refresh = () =>
          name === 'summaries' ? this.#summaries.refresh(id) : this.#judgements.refresh(id, isPatient);
        const measured = refreshSeconds.startTimer({ of: name });
        if (await shards.attempt(await clickhouse.shardOf(id), refresh)) isMoreLeft = true;
        const tookMs = measured() * 1_000;
        if (name === 'summaries' && !this.#steps.isHasty) await Bun.sleep(Math.min(PAUSE_TIMES * tookMs, PAUSE_MS_MAX));
      }
    }
    shards.rethrow();
  }
}
