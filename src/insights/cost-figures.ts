/** The figures of a cost, as every read that has some shows them. */
import { z } from 'zod';
import { type Cost, moneyOf, type PartCost, type Rates, WAIT_MS_MAX } from '../domain/cost.ts';
import { HOUR_MS, MINUTE_MS } from '../domain/time.ts';
import type { Repository } from '../postgres/repositories.ts';

const share = (description: string, example: number) => z.number().meta({ description, example });

export const costFigures = {
  red_runs: share('Red runs, shared out evenly among the tests that failed in each', 4.5),
  reruns: share('Of these, those that ran again', 3.5),
  rerun_minutes: share('Minutes of CI in the attempts that followed', 42.5),
  waiting_hours: share(
    `Hours in which authors waited for a green run, at most ${WAIT_MS_MAX / HOUR_MS} after each failure; shared out among the red runs that a change waited for at the time`,
    6.25,
  ),
  queue_departures: share('Pull requests that left the merge queue because of it, by no failure of their change', 0.5),
  pull_requests: z.int().meta({ description: 'Pull requests with such a run: these are not shared out', example: 5 }),
  money: z.number().nullable().meta({
    description: 'By the prices in the settings of the repository; null without any',
    example: null,
  }),
};

/** Of one test, cause or owner. */
export const partFigures = {
  ...costFigures,
  red_runs_alone: z.int().meta({ description: 'Red runs in which nothing else failed', example: 3 }),
  failed_runs: z.int().meta({ description: 'Red runs in which it failed, whatever else did', example: 7 }),
};

export const ratesOf = (repository: Repository | undefined): Rates => ({
  ciMinute: repository?.ciMinutePrice ?? null,
  waitingHour: repository?.waitingHourPrice ?? null,
});

/** To six decimals: further ones depend on the order in which shares were added up. */
export const inSixDecimals = (figure: number): number => Number(figure.toFixed(6));

export function costJson(cost: Cost, rates: Rates) {
  const money = moneyOf(cost, rates);
  return {
    red_runs: inSixDecimals(cost.redRuns),
    reruns: inSixDecimals(cost.reruns),
    rerun_minutes: inSixDecimals(cost.rerunMs / MINUTE_MS),
    waiting_hours: inSixDecimals(cost.waitMs / HOUR_MS),
    queue_departures: inSixDecimals(cost.departures),
    pull_requests: cost.pullRequests.size,
    money: money === null ? null : inSixDecimals(money),
  };
}

export const partJson = (cost: PartCost, rates: Rates) => ({
  ...costJson(cost, rates),
  red_runs_alone: cost.redRunsAlone,
  failed_runs: cost.failedRuns,
});
