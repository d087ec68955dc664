/** Regroups stored failures after an upgrade that changed the fingerprint. Costs nothing once that is done. */
import { type RegroupOnlineDeps, regroupOnline } from '../src/maintenance/regroup-online.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 600_000;
const RETRY_MS = 60_000;

export class Regrouper {
  readonly loop: Loop;
  #isDone = false;

  constructor(private readonly deps: RegroupOnlineDeps) {
    this.loop = new Loop({
      name: 'regrouper',
      log: deps.log,
      run: () => this.run(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
    });
  }

  async run(): Promise<void> {
    if (!this.#isDone) this.#isDone = await regroupOnline(this.deps, () => this.loop.isStopped);
  }
}
