/**
 * Ends quarantines that were made for a time, within a minute of their end, and announces it some days before. Every
 * worker does so, and together they do it once (src/postgres/quarantine-expiry.ts).
 */
import type { Logger } from '../src/observability/log.ts';
import type { Database } from '../src/postgres/client.ts';
import { announceExpiring, endExpired } from '../src/postgres/quarantine-expiry.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 10_000;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 10_000;

export interface ExpiryDeps {
  db: Database;
  log: Logger;
}

export class Expiry {
  readonly loop: Loop;

  constructor(private readonly deps: ExpiryDeps) {
    this.loop = new Loop({
      name: 'expiry',
      log: deps.log,
      run: () => this.round(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  /** Ends and announces everything that is due now. */
  async round(): Promise<void> {
    const { db, log } = this.deps;
    for (const work of [endExpired, announceExpiring])
      for (let changed = 1; changed > 0 && !this.loop.isStopped; ) {
        changed = await work(db);
        if (changed > 0)
          log.info({ quarantines: changed }, work === endExpired ? 'quarantines ended' : 'quarantines will end soon');
      }
  }
}
