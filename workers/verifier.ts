/** Makes the comparisons that the API was asked for, one at a time. */
import { sql } from 'drizzle-orm';
import { StoreUnavailable } from '../src/errors.ts';
import { documentOf, type VerifyDeps } from '../src/maintenance/verify.ts';
import { verifyOnline } from '../src/maintenance/verify-online.ts';
import { onPostgres } from '../src/postgres/client.ts';
import { VERIFY_LOCK } from '../src/postgres/locks.ts';
import { VerificationStore } from '../src/postgres/verifications.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 3_000;

export class Verifier {
  readonly loop: Loop;
  readonly #store: VerificationStore;

  constructor(private readonly deps: VerifyDeps) {
    this.#store = new VerificationStore(deps.postgres.db, deps.clock);
    this.loop = new Loop({
      name: 'verifier',
      log: deps.log,
      run: () => this.run(),
      everyMs: EVERY_MS,
      retryMs: EVERY_MS,
      retryMsMax: 60_000,
    });
  }

  /** Makes the one that is asked for, if no other process does. One whose process has ended is begun again. */
  async run(): Promise<void> {
    const asked = await this.#store.open();
    if (!asked) return;
    const { db } = this.deps.postgres;
    await onPostgres(() =>
      db.transaction(async (tx) => {
        const { rows } = await tx.execute<{ locked: boolean }>(
          sql`select pg_try_advisory_xact_lock(${VERIFY_LOCK}) as locked`,
        );
        if (!rows[0]?.locked) return;
        await this.#make(asked.id);
      }),
    );
  }

  async #make(id: string): Promise<void> {
    try {
      const report = await verifyOnline(this.deps, {
        onProgress: (compared, all) => this.#store.progress(id, compared, all),
        isStopped: () => this.loop.isStopped,
      });
      if (report) await this.#store.finish(id, { report: documentOf(report) });
    } catch (error) {
      // When the store is back, it is begun again. Anything else would fail again.
      if (!(error instanceof StoreUnavailable)) await this.#store.finish(id, { failure: String(error) });
      throw error;
    }
  }
}
