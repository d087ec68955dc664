/**
 * Removes what is stored of deleted repositories, and the names of people who are to be forgotten. Every worker looks, and one
 * at a time works (src/maintenance/delete-repository.ts, src/maintenance/forget-person.ts).
 */
import { type DeletionDeps, finishDeletions } from '../src/maintenance/delete-repository.ts';
import { forgetPeople } from '../src/maintenance/forget-person.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 1_000;
const RETRY_MS = 2_000;
const RETRY_MS_MAX = 60_000;

export class Deleter {
  readonly loop: Loop;

  constructor(private readonly deps: DeletionDeps) {
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
    await finishDeletions(this.deps, () => this.loop.isStopped);
    await forgetPeople(this.deps);
  }
}
