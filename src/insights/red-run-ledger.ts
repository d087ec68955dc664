/** The red runs of a window with their reasons and what each costs: read once for the pages that show them. */
import { z } from 'zod';
import { defineQuery } from '../clickhouse/query.ts';
import { type CostedRun, costedRuns } from '../domain/cost.ts';
import { departuresOf, type QueueEvent } from '../domain/departures.ts';
import { healthThenOf, type LegHealth, reasonOf } from '../domain/red-run-reason.ts';
import { legKey } from '../domain/test-identity.ts';
import { DAY_MS, dayOf } from '../domain/time.ts';
import { explainRun, UNEXPECTED_MIN } from '../domain/troubled-run.ts';
import { onPostgres } from '../postgres/client.ts';
import { readHealthSteps } from '../postgres/health-steps.ts';
import { readUnexpectedRuns } from '../postgres/judged-runs.ts';
import type { Repository } from '../postgres/repositories.ts';
import { readUnhealthyLegs } from '../postgres/unhealthy-legs.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { InsightsDeps } from './common.ts';
import type { Days } from './day-values.ts';
import { judgedKeyOf, type RunDays, type RunsOfDay } from './run-days.ts';

/** Pages ask for the days and the tests of one window. */
const KEPT_MS = 60_000;
/** One is put together from days in memory, and may have 36,000 runs. */
const KEPT_MAX = 10;
/** A stay in the queue may have begun before the window, and so may the run for which it ended. */
const STAY_MS = DAY_MS;
const QUEUE_EVENTS_MAX = 100_000;

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

  constructor(private readonly deps: Pick<InsightsDeps, 'clickhouse' | 'db'> & { runDays: RunDays }) {}

  /** Up to a minute old. */
  of(repository: Repository, window: LedgerWindow): Promise<RedRunLedger> {
    const key = JSON.stringify([repository.id, window.start, window.end, window.branches]);
    return this.#kept.get(key, () => this.#read(repository, window));
  }

  async #read(repository: Repository, { start, end, branches }: LedgerWindow): Promise<RedRunLedger> {
    const { clickhouse, db, runDays } = this.deps;
    // Without the signal of a request: another one may wait for the same ledger.
    const owned = { owner: repository.owner };
    const from = earliestOf(start);
    const values = { repository_id: repository.id, end_ms: end };
    const [days, queue, unexpected, unhealthy] = await Promise.all([
      runDays.of(repository, { start: from, end, branches }, owned),
      clickhouse.select(departures, { ...values, from_ms: from, start_ms: start, rows: QUEUE_EVENTS_MAX }, owned),
      onPostgres(() =>
        readUnexpectedRuns(db, repository.id, { from: from - DAY_MS, to: end, unexpectedMin: UNEXPECTED_MIN }),
      ),
      onPostgres(() => readUnhealthyLegs(db, repository.id)),
    ]);
    const red = days.flatMap((day) =>
      day.red.filter(({ costly: { startedAt } }) => startedAt >= from && startedAt < end),
    );
    const troubled = new Set(unexpected.filter((run) => explainRun(run).trouble !== 'none').map(judgedKeyOf));
    const tests = [...new Set(red.flatMap(({ costly }) => costly.tests))];
    const steps = tests.length === 0 ? new Map() : await onPostgres(() => readHealthSteps(db, repository.id, tests));
    const healthThen = healthThenOf(legHealths(steps, unhealthy));
    const costly = red.map((run) => ({
      ...run.costly,
      isCounted: run.costly.startedAt >= start,
      reason: reasonOf(
        {
          isOnDefault: run.isOnDefault,
          isJudgedTroubled: troubled.has(run.judgedKey),
          passed: run.passed,
          endedAt: run.costly.endedAt,
          tests: run.costly.tests,
          alwaysFailed: new Set(run.alwaysFailed),
        },
        healthThen,
      ),
    }));
    return { ...costedRuns(costly, departuresOf(queue)), days: countedIn(days, { start, end }) };
  }
}

/** By UTC day, only what began within the window. */
function countedIn(days: readonly RunsOfDay[], { start, end }: Days): Map<number, RunDay> {
  const isWithin = (at: number): boolean => at >= start && at < end;
  return new Map(
    days.flatMap(({ starts, outside }): [number, RunDay][] => {
      const within = starts.filter(isWithin);
      const ranAgain = outside.filter(({ began_ms: began }) => isWithin(began));
      const [first] = within;
      if (first === undefined) return [];
      const outsideMs = ranAgain.reduce((sum, { next_ms: next }) => sum + next, 0);
      return [[dayOf(first), { runs: within.length, outside: ranAgain.length, outsideMs }]];
    }),
  );
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
