/**
 * Removes what is stored of deleted repositories and forgotten tests, and the names of people who are to be forgotten. Every
 * worker looks, and one at a time works (src/maintenance/leaving.ts).
 */
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
    await finishDeletions(deps, isStopped);
    await forgetTests(deps, isStopped);
    await forgetPeople(deps);
  }
}
