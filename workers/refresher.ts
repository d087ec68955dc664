/** Puts right what passes of the evaluation have left stale. Every worker does so: to do it twice changes nothing. */
import type { RefreshName } from '../src/domain/stale.ts';
import { Refresh } from '../src/evaluation/refresh.ts';
import type { RefreshDeps } from '../src/evaluation/refresh-steps.ts';
import type { Logger } from '../src/observability/log.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 1_000;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

export interface RefresherDeps extends RefreshDeps {
  name: RefreshName;
  log: Logger;
  /** Whether nothing rests or waits; tests want that. */
  isHasty?: boolean;
}

export class Refresher {
  readonly loop: Loop;

  constructor({ name, log, isHasty = false, ...deps }: RefresherDeps) {
    const refresh = new Refresh(deps, isHasty);
    this.loop = new Loop({
      name: `refresh of ${name}`,
      log,
      run: () => refresh.round(name, () => this.loop.isStopped),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }
}
