/**
 * Lists tests by how often they ran, which large passes of the evaluation leave for later (src/postgres/listings.ts): as
 * soon as there is time, and at least every ten minutes. Every worker does so: listing a test twice changes nothing.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { lockEvaluation } from '../src/evaluation/lock.ts';
import type { BlockStore } from '../src/ledger/blocks.ts';
import type { Logger } from '../src/observability/log.ts';
import { type Database, onPostgres } from '../src/postgres/client.ts';
import { forgetNotes, type LateTests, listNow, nextLate } from '../src/postgres/listings.ts';
import type { Evaluator } from './evaluator.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 2_000;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 10_000;
/** There is time when this process has made no large pass for so long, and nothing waits to be evaluated. */
const QUIET_MS = 3_000;
const LATEST_MS = 10 * 60_000;
/** The repository is not evaluated meanwhile: some 50 ms. */
const TESTS_AT_ONCE = 200;
/** Read together, because most name the same tests. Each has up to some thousands. */
const NOTES_AT_ONCE = 100;

export interface ListerDeps {
  db: Database;
  blocks: BlockStore;
  evaluator: Pick<Evaluator, 'lastLargeAt'>;
  log: Logger;
  /** Milliseconds without a large pass until there is time, and until there must be; tests want other ones. */
  quietMs?: number;
  latestMs?: number;
}

export class Lister {
  readonly loop: Loop;
  /** When the last round ended that listed everything; by `performance.now()`. */
  #completedAt = performance.now();

  constructor(private readonly deps: ListerDeps) {
    this.loop = new Loop({
      name: 'listing',
      log: deps.log,
      run: () => this.round(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  /** Lists what is late if there is time, or if it has waited for long. */
  async round(): Promise<void> {
    const isDue = performance.now() - this.#completedAt >= (this.deps.latestMs ?? LATEST_MS);
    await (isDue ? this.listAll() : this.#listWhile(() => this.#isQuiet()));
  }

  /** Lists every test that is late when its turn comes. What waits to be evaluated has half of the time. */
  listAll(): Promise<void> {
    let startedAt = performance.now();
    return this.#listWhile(async () => {
      await sleep(performance.now() - startedAt);
      startedAt = performance.now();
      return true;
    });
  }

  /** In the order of repositories, so that it ends, however many become late meanwhile. */
  async #listWhile(mayContinue: () => Promise<boolean>): Promise<void> {
    let late: LateTests | undefined;
    // Asked first: with many notes, reading them costs something.
    while (!this.loop.isStopped && (await mayContinue())) {
      late = await nextLate(this.deps.db, late, NOTES_AT_ONCE);
      if (!late) {
        this.#completedAt = performance.now();
        return;
      }
      for (let from = 0; from < late.testIds.length; from += TESTS_AT_ONCE) {
        if (this.loop.isStopped || !(await mayContinue())) return;
        await this.#list(late.repositoryId, late.testIds.slice(from, from + TESTS_AT_ONCE));
      }
      await forgetNotes(this.deps.db, late);
    }
  }

  #list(repositoryId: string, testIds: readonly string[]): Promise<void> {
    return onPostgres(() =>
      this.deps.db.transaction(async (tx) => {
        await lockEvaluation(tx, repositoryId);
        await listNow(tx, repositoryId, testIds);
      }),
    );
  }

  async #isQuiet(): Promise<boolean> {
    const { blocks, evaluator, quietMs = QUIET_MS } = this.deps;
    if (performance.now() - evaluator.lastLargeAt < quietMs) return false;
    return (await blocks.storedOnly(1)).length === 0;
  }
}
