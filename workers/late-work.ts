/**
 * Does what large passes of the evaluation leave for later: writes the records of commits, and lists tests by how often they
 * ran. It begins as soon as there is time, and at least every ten minutes. Every worker does so: to do it twice changes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { ClickHouse } from '../src/clickhouse/client.ts';
import { lateListingSteps } from '../src/evaluation/late-listings.ts';
import { lateRecordSteps } from '../src/evaluation/late-records.ts';
import type { BlockStore } from '../src/ledger/blocks.ts';
import type { Logger } from '../src/observability/log.ts';
import type { Database } from '../src/postgres/client.ts';
import type { Evaluator } from './evaluator.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 2_000;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 10_000;
/** There is time when this process has made no large pass for so long, and nothing waits to be evaluated. */
const QUIET_MS = 3_000;
const LATEST_MS = 10 * 60_000;

export interface LateWorkDeps {
  db: Database;
  clickhouse: ClickHouse;
  blocks: BlockStore;
  evaluator: Pick<Evaluator, 'lastLargeAt'>;
  log: Logger;
  /** Milliseconds without a large pass until there is time, and until there must be; tests want other ones. */
  quietMs?: number;
  latestMs?: number;
}

export class LateWork {
  readonly loop: Loop;
  /** When the last round ended that left nothing; by `performance.now()`. */
  #completedAt = performance.now();

  constructor(private readonly deps: LateWorkDeps) {
    this.loop = new Loop({
      name: 'late work',
      log: deps.log,
      run: () => this.round(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  /** Does what is late if there is time, or if it has waited for long. */
  async round(): Promise<void> {
    const isDue = performance.now() - this.#completedAt >= (this.deps.latestMs ?? LATEST_MS);
    await (isDue ? this.doAll() : this.#doWhile(() => this.#isQuiet()));
  }

  /** Does everything that is late when its turn comes. What waits to be evaluated has half of the time. */
  doAll(): Promise<void> {
    let startedAt = performance.now();
    return this.#doWhile(async () => {
      await sleep(performance.now() - startedAt);
      startedAt = performance.now();
      return true;
    });
  }

  /** @param mayContinue asked before each step, the first one, too: with much that is late, to find it costs something */
  async #doWhile(mayContinue: () => Promise<boolean>): Promise<void> {
    // Every CI job asks for the record of its commit when it ends.
    for (const steps of [lateRecordSteps(this.deps), lateListingSteps(this.deps.db)])
      for await (const _ of steps) if (this.loop.isStopped || !(await mayContinue())) return;
    this.#completedAt = performance.now();
  }

  async #isQuiet(): Promise<boolean> {
    const { blocks, evaluator, quietMs = QUIET_MS } = this.deps;
    if (performance.now() - evaluator.lastLargeAt < quietMs) return false;
    return (await blocks.storedOnly(1)).length === 0;
  }
}
