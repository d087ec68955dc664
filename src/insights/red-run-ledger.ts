/** The red runs of a window with their reasons and what each costs: read once for the pages that show them. */
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { type CostedRun, type CostlyRun, costedRuns, runKeyOf } from '../domain/cost.ts';
import { departuresOf, type QueueEvent } from '../domain/departures.ts';
import { healthThenOf, type LegHealth, reasonOf } from '../domain/red-run-reason.ts';
import { legKey } from '../domain/test-identity.ts';
import { DAY_MS } from '../domain/time.ts';
import { explainRun, UNEXPECTED_MIN } from '../domain/troubled-run.ts';
import { onPostgres } from '../postgres/client.ts';
import { readHealthSteps } from '../postgres/health-steps.ts';
import { readUnexpectedRuns } from '../postgres/judged-runs.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readUnhealthyLegs } from '../postgres/unhealthy-legs.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { InsightsDeps } from './common.ts';

/** Pages ask for the days and the tests of one window. */
const KEPT_MS = 60_000;
const KEPT_MAX = 50;
/** A stay in the queue may have begun before the window, and so may the run for which it ended. */
const STAY_MS = DAY_MS;
const QUEUE_EVENTS_MAX = 100_000;

const ofWindow = { repository_id: 'UUID', start_ms: 'Int64', end_ms: 'Int64', branches: 'Array(String)' } as const;
const isTrue = z.union([z.boolean(), z.int()]).transform(Boolean);
const runRow = z.object({
  began_ms: z.int(),
  ended_ms: z.int(),
  pipeline_name: z.string(),
  job_name: z.string(),
  axes: z.string(),
  run_id: z.string(),
  run_attempt: z.int(),
  commit_sha: z.string(),
  on_default: isTrue,
  pull: z.int(),
  run_day: z.int(),
  passes: z.int(),
  tests: z.array(z.string()),
  rerun_ms: z.int(),
  green_ms: z.int(),
  always_failed: z.array(z.string()),
});
type RunRow = z.infer<typeof runRow>;
const redRuns = defineQuery('insights/red_runs', ofWindow, runRow);
const runDays = defineQuery(
  'insights/run_days',
  ofWindow,
  z.object({ day_number: z.int(), runs: z.int(), outside: z.int(), outside_ms: z.int() }),
);
const departures = defineQuery(
  'insights/departures',
  { repository_id: 'UUID', from_ms: 'Int64', start_ms: 'Int64', end_ms: 'Int64', rows: 'UInt32' },
  z
    .object({
      at_ms: z.int(),
      step: z.enum(['enter', 'leave', 'checks_start', 'checks_end']),
      outcome: z.string(),
      pulls: z.array(z.int()),
      head_commit: z.string(),
      checked_in: z.int(),
    })
    .transform(
      ({ at_ms, step, outcome, pulls, head_commit, checked_in }): QueueEvent => ({
        at: at_ms,
        step,
        hasFailed: outcome === 'failure',
        pulls,
        headCommit: head_commit || null,
        checkedIn: checked_in || null,
      }),
    ),
);

/** Where red runs are looked for. */
export interface LedgerWindow {
  start: number;
  end: number;
  branches: readonly string[];
}

/** Runs that began on a UTC day. */
export interface RunDay {
  runs: number;
  /** Green ones that ran again although nothing was red in their attempt, and the length of the attempts that followed. */
  outside: number;
  outsideMs: number;
}

export interface RedRunLedger {
  /** Within the window (`isCounted`), and those before it for which a pull request left the queue within it. */
  runs: readonly CostedRun[];
  /** By UTC day since the epoch. */
  days: ReadonlyMap<number, RunDay>;
  /** Pull requests that left the queue unmerged: by whose failure. */
  left: { innocent: number; own: number; unknown: number };
}

/** When the earliest runs began that may be in the ledger of a window. */
export const earliestOf = (start: number): number => Math.max(0, start - STAY_MS);

export class RedRunLedgers {
  readonly #kept = new TtlCache<RedRunLedger>(KEPT_MS, KEPT_MAX);

  constructor(private readonly deps: Pick<InsightsDeps, 'clickhouse' | 'db'>) {}

  /** Up to a minute old. */
  of(repository: Repository, window: LedgerWindow): Promise<RedRunLedger> {
    const key = JSON.stringify([repository.id, window.start, window.end, window.branches]);
    return this.#kept.get(key, () => this.#read(repository, window));
  }

  async #read(repository: Repository, { start, end, branches }: LedgerWindow): Promise<RedRunLedger> {
    const { clickhouse, db } = this.deps;
    // Without the signal of a request: another one may wait for the same ledger.
    const owned = { owner: repository.owner };
    const from = earliestOf(start);
    const values = { repository_id: repository.id, end_ms: end };
    const [red, days, queue, unexpected, unhealthy] = await Promise.all([
      clickhouse.select(redRuns, { ...values, start_ms: from, branches: [...branches] }, owned),
      clickhouse.select(runDays, { ...values, start_ms: start, branches: [...branches] }, owned),
      clickhouse.select(departures, { ...values, from_ms: from, start_ms: start, rows: QUEUE_EVENTS_MAX }, owned),
      onPostgres(() =>
        readUnexpectedRuns(db, repository.id, { from: from - DAY_MS, to: end, unexpectedMin: UNEXPECTED_MIN }),
      ),
      onPostgres(() => readUnhealthyLegs(db, repository.id)),
    ]);
    const troubled = new Set(
      unexpected
        .filter((run) => explainRun(run).trouble !== 'none')
        .map(({ day, runId, runAttempt, ...leg }) => JSON.stringify([day, legKey(leg), runId, runAttempt])),
    );
    const tests = [...new Set(red.flatMap((row) => row.tests))];
    const steps = tests.length === 0 ? new Map() : await onPostgres(() => readHealthSteps(db, repository.id, tests));
    const healthThen = healthThenOf(legHealths(steps, unhealthy));
    const costly = red.map((row) => ({
      ...costlyOf(row),
      isCounted: row.began_ms >= start,
      reason: reasonOf(
        {
          isOnDefault: row.on_default,
          isJudgedTroubled: troubled.has(
            JSON.stringify([
              row.run_day,
              legKey({ pipelineName: row.pipeline_name, jobName: row.job_name, axes: row.axes }),
              row.run_id,
              row.run_attempt,
            ]),
          ),
          passed: row.passes,
          endedAt: row.ended_ms,
          tests: row.tests,
          alwaysFailed: new Set(row.always_failed),
        },
        healthThen,
      ),
    }));
    return {
      ...costedRuns(costly, departuresOf(queue)),
      days: new Map(
        days.map(({ day_number, runs, outside, outside_ms }) => [day_number, { runs, outside, outsideMs: outside_ms }]),
      ),
    };
  }
}

function costlyOf(row: RunRow): Omit<CostlyRun, 'reason'> {
  const pullRequest = row.pull || null;
  return {
    key: runKeyOf(row),
    startedAt: row.began_ms,
    endedAt: row.ended_ms,
    tests: row.tests,
    pullRequest,
    commit: row.commit_sha,
    change: row.on_default ? null : pullRequest === null ? row.commit_sha : `#${pullRequest}`,
    rerunMs: row.rerun_ms < 0 ? null : row.rerun_ms,
    greenAt: row.green_ms || null,
  };
}

/** By test: the legs whose health ever changed, and those that are unhealthy now. */
function legHealths(
  steps: Awaited<ReturnType<typeof readHealthSteps>>,
  unhealthy: Awaited<ReturnType<typeof readUnhealthyLegs>>,
): Map<string, LegHealth[]> {
  const now = new Map(unhealthy.map((leg) => [JSON.stringify([leg.testId, legKey(leg)]), leg.health]));
  const found = new Map<string, LegHealth[]>();
  const add = (testId: string, leg: LegHealth) => found.set(testId, [...(found.get(testId) ?? []), leg]);
  const known = new Set<string>();
  for (const [testId, ofTest] of steps)
    for (const [leg, ofLeg] of Map.groupBy(ofTest, legKey)) {
      const key = JSON.stringify([testId, leg]);
      known.add(key);
      add(testId, { steps: ofLeg, now: now.get(key) ?? 'healthy' });
    }
  for (const leg of unhealthy) {
    if (!known.has(JSON.stringify([leg.testId, legKey(leg)]))) add(leg.testId, { steps: [], now: leg.health });
  }
  return found;
}
