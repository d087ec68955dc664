/** Puts right what passes of the evaluation have left stale. Every worker does so: to do it twice changes nothing. */
import { Refresh, type RefreshRound } from '../src/evaluation/refresh.ts';
import type { RefreshDeps } from '../src/evaluation/refresh-steps.ts';
import type { Logger } from '../src/observability/log.ts';
import { Loop } from './loop.ts';

const EVERY_MS = 1_000;
const RETRY_MS = 1_000;
const RETRY_MS_MAX = 30_000;

/** In the order in which one leaves work to the next. It may take seconds to judge what was imported. */
export const REFRESH_ROUNDS = [
  { name: 'judgements', isOfImports: false },
  { name: 'judgements', isOfImports: true },
  { name: 'summaries' },
] as const satisfies readonly RefreshRound[];

export interface RefresherDeps extends RefreshDeps {
  round: RefreshRound;
  log: Logger;
  /** Whether nothing rests or waits; tests want that. */
  isHasty?: boolean;
}

export class Refresher {
  readonly loop: Loop;

  constructor({ round, log, isHasty = false, ...deps }: RefresherDeps) {
    const refresh = new Refresh(deps, isHasty);
    this.loop = new Loop({
      name: `refresh of ${round.name}${round.isOfImports ? ' of imports' : ''}`,
      log,
      run: () => refresh.round(round, () => this.loop.isStopped),
      everyMs: EVERY_MS,
      retryMs: RETRY_MS,
      retryMsMax: RETRY_MS_MAX,
    });
  }
}
