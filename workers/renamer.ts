/** Applies renames of tests that were accepted or undone. Costs one small statement while none is. */
import type { RebuildDeps } from '../src/maintenance/derive-again.ts';
import { applyRenames } from '../src/maintenance/rename-tests.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 2_000;
const RETRY_MS = 10_000;

export class Renamer {
  readonly loop: Loop;

  constructor(private readonly deps: RebuildDeps) {
    this.loop = new Loop({
      name: 'renamer',
      log: deps.log,
      run: () => this.run(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
    });
  }

  async run(): Promise<void> {
    await applyRenames(this.deps);
  }
}
