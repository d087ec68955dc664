/** Moves kept uploads from their folder to the S3 store. While the store does not answer, they stay in the folder. */

import type { Logger } from '../src/observability/log.ts';
import type { KeptUploads } from '../src/queue/kept/kept-uploads.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 30_000;
const RETRY_MS = 5_000;
const RETRY_MS_MAX = 60_000;

export interface KeeperDeps {
  kept: Pick<KeptUploads, 'move'>;
  log: Logger;
}

export class Keeper {
  readonly loop: Loop;

  constructor({ kept, log }: KeeperDeps) {
    this.loop = new Loop({
      name: 'keeper',
      log,
      run: () => kept.move(),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }
}
