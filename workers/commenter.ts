/**
 * Keeps the comments on pull requests and the checks of their commits, where the service is to. A pass of the evaluation notes
 * pull requests on which something ran, and a webhook those with a new commit (src/postgres/pull-comments.ts). Every worker takes what is due, and together they do it
 * once.
 */
import { limitedMsOf, type PullKeeper } from '../src/comments/pull-keeper.ts';
import { StoreUnavailable } from '../src/errors.ts';
import type { Logger } from '../src/observability/log.ts';
import { hostWrites } from '../src/observability/metrics.ts';
import type { Database } from '../src/postgres/client.ts';
import { type DuePull, postponePull, settlePull, takeDuePulls } from '../src/postgres/pull-comments.ts';
import type { RepositoryStore } from '../src/postgres/repositories.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 2_000;
const RETRY_MS_MAX = 30_000;
/** Requests to a host take most of the time. */
const AT_ONCE = 4;
const RESTS = 'the host takes no more requests for now';

export interface CommenterDeps {
  db: Database;
  repositories: RepositoryStore;
  keeper: PullKeeper;
  log: Logger;
}

export class Commenter {
  readonly loop: Loop;
  /** By name of the host: it takes no more requests until then, by `performance.now()`. */
  readonly #restsUntil = new Map<string, number>();

  constructor(private readonly deps: CommenterDeps) {
    this.loop = new Loop({
      name: 'comments',
      log: deps.log,
      run: () => this.run(),
      everyMs: EVERY_MS,
      retryMs: EVERY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  /** Everything that is due now. */
  async run(): Promise<void> {
    while (!this.loop.isStopped) {
      const due = await takeDuePulls(this.deps.db, AT_ONCE);
      if (due.length === 0) return;
      await Promise.all(due.map((one) => this.#keep(one)));
    }
  }

  async #keep(due: DuePull): Promise<void> {
    const { db, repositories, keeper } = this.deps;
    const repository = await repositories.find(due.owner, due.name);
    if (repository?.id !== due.repositoryId) return settlePull(db, due, { outcome: 'moved', isCommented: false });
    const host = keeper.hostOf(repository) ?? '';
    const restMs = (this.#restsUntil.get(host) ?? 0) - performance.now();
    if (restMs > 0) return postponePull(db, due, { failure: RESTS, afterMs: restMs });
    try {
      await settlePull(db, due, await keeper.keep(repository, due));
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      keeper.forget(repository);
      await this.#postpone(due, host, error);
    }
  }

  async #postpone(due: DuePull, host: string, error: unknown): Promise<void> {
    const limitedMs = limitedMsOf(error);
    if (limitedMs !== undefined) this.#restsUntil.set(host, performance.now() + limitedMs);
    hostWrites.inc({ outcome: limitedMs === undefined ? 'failed' : 'limited' });
    const failure = error instanceof Error ? error.message : String(error);
    const { owner, name, number } = due;
    this.deps.log.warn(
      { owner, name, pull_request: number, failure },
      'a comment or check cannot be written; will retry',
    );
    await postponePull(this.deps.db, due, { failure, afterMs: limitedMs });
  }
}
