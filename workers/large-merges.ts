/**
 * Lets large merges of the embedded ClickHouse wait while many results arrive (src/clickhouse/large-merges.ts): they would
 * take half a core and more from the evaluation. They may begin when it is quiet, and at least every ten minutes.
 *
 *     allowed ──a large pass──► postponed ──none for 15 s──► allowed
 *        ▲                          │
 *        └────after ten minutes─────┘  for 15 s at least
 */
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { allowLargeMerges, postponeLargeMerges } from '../src/clickhouse/large-merges.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Evaluator } from './evaluator.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 1_000;
const RETRY_MS = 5_000;
/** Longer than the time between two large passes under load. */
const QUIET_MS = 15_000;
const LATEST_MS = 10 * 60_000;

export interface LargeMergesDeps {
  clickhouse: ClickHouse;
  evaluator: Pick<Evaluator, 'lastLargeAt'>;
  log: Logger;
  /** Milliseconds: without a large pass until it is quiet, and until they may begin anyway. Tests want other ones. */
  quietMs?: number;
  latestMs?: number;
}

export class LargeMerges {
  readonly loop: Loop;
  /** Undefined until it is set: a killed process may have left them postponed. */
  #are: 'allowed' | 'postponed' | undefined;
  /** By `performance.now()`. */
  #changedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly deps: LargeMergesDeps) {
    this.loop = new Loop({
      name: 'large merges',
      log: deps.log,
      run: () => this.round(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
    });
  }

  async round(): Promise<void> {
    const { evaluator, quietMs = QUIET_MS, latestMs = LATEST_MS } = this.deps;
    const now = performance.now();
    const sinceChange = now - this.#changedAt;
    const isQuiet = now - evaluator.lastLargeAt >= quietMs;
    if (isQuiet || (this.#are === 'postponed' && sinceChange >= latestMs)) {
      if (this.#are !== 'allowed') await this.#allow();
    } else if (this.#are !== 'postponed' && sinceChange >= quietMs) {
      await postponeLargeMerges(this.deps.clickhouse);
      this.#change('postponed');
    }
  }

  /** What is postponed is allowed again. If that fails, the next start does it. */
  async stop(): Promise<void> {
    await this.loop.stop();
    if (this.#are !== 'postponed') return;
    await this.#allow().catch((err: unknown) => this.deps.log.warn({ err }, 'large merges stay postponed'));
  }

  async #allow(): Promise<void> {
    await allowLargeMerges(this.deps.clickhouse);
    this.#change('allowed');
  }

  #change(to: 'allowed' | 'postponed'): void {
    this.#are = to;
    this.#changedAt = performance.now();
  }
}
