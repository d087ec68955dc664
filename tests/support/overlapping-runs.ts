/** Properties of evaluation on real stores, for runs of one CI job that overlap. */
import { expect } from 'bun:test';
import fc from 'fast-check';
import { HOUR_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { evaluateRepository } from '../../src/evaluation/pass.ts';
import { Refresh } from '../../src/evaluation/refresh.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { countWaiting } from '../../src/postgres/partitions.ts';
import type { TestRunsJob } from '../../src/queue/test-runs.ts';
import { inBudget } from './budget.ts';
import { TEST_NOW } from './clock.ts';
import type { IngestSetUp } from './ingest.ts';
import { makeJob } from './jobs.ts';
import { prepareChunk } from './prepare.ts';
import { asUploads, type Disturb, TESTS } from './random-histories.ts';
import { type TestStores, uniqueRepository } from './stores.ts';
import { PASSING, runOf } from './verdicts.ts';

/** A part of a run of one CI job; others run at the same time. Few tests fail. */
const overlappingPart = fc.record({
  runId: fc.integer({ min: 1, max: 4 }).map(String),
  attempt: fc.constantFrom(1, 1, 1, 2),
  /** After the part before it. */
  minutes: fc.constantFrom(0, 1, 1, 7, 20, 90),
  /** Whether it finished long before it arrives. */
  isLate: fc.constantFrom(false, false, false, false, true),
  failing: fc.constantFrom(0, 0, 0, 1, 1, 2, 11),
  from: fc.nat(2),
  retried: fc.constantFrom(0, 0, 0, 0, 1),
});
type OverlappingPart = typeof overlappingPart extends fc.Arbitrary<infer Part> ? Part : never;

/** In nearly the order in which they finish. */
const overlappingRuns = fc.array(overlappingPart, { minLength: 3, maxLength: 18 });

/** Runs in which all passed, an hour apart, and the parts after them. */
function jobsOf(repository: TestRunsJob['repository'], passes: number, parts: readonly OverlappingPart[]) {
  const begun = TEST_NOW - 60 * HOUR_MS;
  const passed = Array.from({ length: passes }, (_, i) => {
    const results = Object.fromEntries([...TESTS, ...Object.keys(PASSING)].map((name) => [name, 'passed' as const]));
    return runOf({ repository, runId: `before ${i}`, at: begun + i * HOUR_MS, results, receivedAt: TEST_NOW });
  });
  let now = begun + passes * HOUR_MS;
  const overlapping = parts.map(({ runId, attempt, minutes, isLate, failing, from, retried }, i) => {
    now += minutes * MINUTE_MS;
    const at = isLate ? now - 50 * MINUTE_MS : now;
    const isWithin = (place: number, first: number, many: number) => place >= first && place < first + many;
    return makeJob({
      repository,
      receivedAt: TEST_NOW,
      source: `part ${i}`,
      run: { run_id: runId, run_attempt: attempt, commit: `commit of ${runId}` },
      executions: TESTS.map((name, place) => ({
        ...{ name, key: name, at },
        ...(isWithin(place, from, failing)
          ? { status: 'failed' as const, failures: [{ type: 'Error', message: 'no' }] }
          : { isFlaky: isWithin(place, 5, retried), isRetried: isWithin(place, 5, retried) }),
      })),
    });
  });
  return { passed: asUploads(passed), overlapping };
}

/** Executions that belong before the last passes of a test are judged right, however many runs overlap there. */
export async function overlappingRunsAgree({ driver }: IngestSetUp, numRuns: number, disturb?: Disturb): Promise<void> {
  await fc.assert(
    fc.asyncProperty(
      overlappingRuns,
      fc.integer({ min: 2, max: 9 }),
      fc.nat(6),
      inBudget(async (parts, passes, cuts) => {
        const repository = uniqueRepository();
        const { passed, overlapping } = jobsOf(repository, passes, parts);
        await driver.ingest(...passed);
        const size = Math.ceil(overlapping.length / (cuts + 1));
        for (let at = 0; at < overlapping.length; at += size) await driver.ingest(...overlapping.slice(at, at + size));
        await disturb?.(repository);
        await driver.verify();
      }),
    ),
    { numRuns },
  );
}

/**
 * The same if some of it is stored long before it is evaluated, and refreshed at any time, as on a service that is behind. The
 * workers would evaluate it at once, so they are stopped.
 */
export async function storedAheadAgrees({ stores, driver }: IngestSetUp, numRuns: number): Promise<void> {
  await driver.stop();
  try {
    await storedAheadAgreesAlone(stores, numRuns);
  } finally {
    driver.start();
  }
}

async function storedAheadAgreesAlone(stores: TestStores, numRuns: number): Promise<void> {
  const { postgres, clickhouse, clock, quarantines } = stores;
  const { db } = postgres;
  const ledger = new Ledger({ db, clickhouse, clock });
  const refresh = new Refresh({ db, clickhouse, clock, quarantines }, true);
  const turns = fc.array(fc.record({ isEvaluated: fc.boolean(), isRefreshed: fc.boolean() }), {
    minLength: 18,
    maxLength: 18,
  });
  await fc.assert(
    fc.asyncProperty(
      overlappingRuns,
      fc.integer({ min: 2, max: 9 }),
      turns,
      inBudget(async (parts, passes, inTurn) => {
        const repository = uniqueRepository();
        const recorded = await stores.repositories.record(repository);
        const { id, defaultBranch } = await stores.repositories.learnDefaultBranch(recorded, 'main', 'payload');
        const options = { repositoryId: id, defaultBranch, now: clock.now(), retentionDays: 90 };
        const { passed, overlapping } = jobsOf(repository, passes, parts);
        const store = (...jobs: readonly TestRunsJob[]) => ledger.write(jobs.map((job) => prepareChunk(job, options)));
        await store(...passed);
        await evaluateRepository(db, id);
        for (const [i, job] of overlapping.entries()) {
          await store(job);
          if (inTurn[i]?.isEvaluated) await evaluateRepository(db, id);
          if (inTurn[i]?.isRefreshed) await refresh.refresh(id);
        }
        await evaluateRepository(db, id);
        await refresh.refresh(id);
        const report = await verify(stores, id);
        expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
        expect(await countWaiting(db, id)).toBe(0);
      }),
    ),
    { numRuns },
  );
}
