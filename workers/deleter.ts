/**
 * Removes what is stored of deleted repositories and forgotten tests, and the names of people who are to be forgotten. Every
 * worker looks, and one at a time works (src/maintenance/leaving.ts).
 */
import { failingStore } from '../src/clickhouse/failing-store.ts';
import { ShardsUnavailable } from '../src/clickhouse/shards.ts';
import { finishDeletions } from '../src/maintenance/delete-repository.ts';
import { forgetPeople } from '../src/maintenance/forget-person.ts';
import { type ForgetTestsDeps, forgetTests } from '../src/maintenance/forget-tests.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 1_000;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 60_000;

export class Deleter {
  readonly loop: Loop;

  constructor(private readonly deps: ForgetTestsDeps) {
    this.loop = new Loop({
      name: 'deleter',
      log: deps.log,
      run: () => this.run(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }

  async run(): Promise<void> {
    const deps = { ...this.deps, db: this.deps.postgres.db };
    const isStopped = () => this.loop.isStopped;
    let failed: unknown;
    // A shard that does not answer leaves something of one of them waiting, and nothing of the others.
    for (const step of [
      () => finishDeletions(deps, isStopped),
      () => forgetTests(deps, isStopped),
      () => forgetPeople(deps),
    ])
      try {
        await step();
      } catch (error) {
        if (failingStore(error) !== 'clickhouse') throw error;
        failed = failed === undefined || failed instanceof ShardsUnavailable ? error : failed;
      }
    if (failed !== undefined) throw failed;
  }
}
