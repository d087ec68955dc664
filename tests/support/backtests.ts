/** Histories of one repository, what a backtest says of them, and whether that agrees with what the service did. */
import { expect } from 'bun:test';
import fc from 'fast-check';
import type { BacktestPolicy } from '../../src/domain/backtest-policy.ts';
import type { BacktestReport } from '../../src/domain/backtest-report.ts';
import { repositoryIdOf } from '../../src/domain/identity.ts';
import type { AutoQuarantineMode } from '../../src/domain/quarantine-rules.ts';
import type { Status } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { backtest } from '../../src/explain/backtest.ts';
import { inBudget } from './budget.ts';
import { TEST_NOW } from './clock.ts';
import type { IngestSetUp } from './ingest.ts';
import { uniqueRepository } from './stores.ts';
import { runOf } from './verdicts.ts';

export const FROM = TEST_NOW - 30 * DAY_MS;

/** Tests that always pass: with them, a failure says something about its test, not about the run. */
const OTHERS = Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`other ${i}`, 'passed' as const]));

/** Runs of one repository. */
export class Course {
  readonly repository = uniqueRepository();
  readonly id = repositoryIdOf(this.repository.host, this.repository.owner, this.repository.name);
  readonly address = `/v1/ci/${this.repository.owner}/repositories/${this.repository.name}/backtests`;
  at = FROM;

  private constructor(private readonly ingested: IngestSetUp) {}

  static async start(ingest: IngestSetUp, mode: AutoQuarantineMode): Promise<Course> {
    const { stores } = ingest;
    const course = new Course(ingest);
    stores.clock.set(course.at);
    const recorded = await stores.repositories.record(course.repository);
    await stores.repositories.set(recorded, { autoQuarantine: mode }, 'ann');
    return course;
  }

  /** A run an hour or more after the last one. */
  run(
    runId: string,
    results: Record<string, Status>,
    { attempt = 1, branch = 'main', message = 'no', hours = 1 } = {},
  ) {
    this.at += hours * HOUR_MS;
    const run = { branch, default_branch: 'main' };
    return runOf({
      repository: this.repository,
      runId,
      attempt,
      at: this.at,
      receivedAt: this.at,
      results: { ...OTHERS, ...results },
      message,
      run,
    });
  }

  /** A failure that passes in a second attempt, in a test that then passes on as many commits. */
  flaky(name: string, passes: number, message = 'no') {
    const runId = `flaky ${this.at}`;
    return [
      this.run(runId, { [name]: 'failed' }, { message }),
      this.run(runId, { [name]: 'passed' }, { attempt: 2 }),
      ...Array.from({ length: passes }, () => this.run(`calm ${this.at}`, { [name]: 'passed' })),
    ];
  }

  async ingest(...jobs: ReturnType<Course['run']>[]): Promise<void> {
    this.ingested.stores.clock.set(this.at + 60_000);
    await this.ingested.driver.ingest(...jobs);
  }

  policy(changed: Partial<BacktestPolicy> = {}): BacktestPolicy {
    const since = new Date(FROM - DAY_MS).toISOString();
    return { auto_quarantine: 'flaky', since, is_narrowed: false, constants: {}, ...changed };
  }

  async backtest(changed: Partial<BacktestPolicy> = {}): Promise<BacktestReport> {
    const repository = { id: this.id, flakyDetectionEnabled: true };
    const { clickhouse, postgres } = this.ingested.stores;
    const options = { repository, policy: this.policy(changed), until: this.at };
    const report = await backtest({ clickhouse, db: postgres.db }, options);
    if (!report) throw new Error('nobody stopped it');
    return report;
  }
}

const step = fc.record({
  what: fc.constantFrom('flaky', 'flaky', 'flaky', 'passed', 'failed'),
  passes: fc.integer({ min: 0, max: 1 }),
});

/** Flaky on three commits. */
const QUARANTINED: [AutoQuarantineMode, { what: 'flaky' | 'failed'; passes: number }[]] = [
  'flaky+broken',
  [
    { what: 'failed', passes: 0 },
    { what: 'flaky', passes: 1 },
    { what: 'flaky', passes: 0 },
  ],
];

/** A backtest of the policy that was on says what was really quarantined, and why. Returns how many quarantines there were. */
export async function backtestsAgree(
  ingest: IngestSetUp,
  { numRuns, stepsMax }: { numRuns: number; stepsMax: number },
): Promise<number> {
  let all = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom<AutoQuarantineMode>('flaky', 'flaky+broken'),
      fc.array(step, { minLength: stepsMax - 2, maxLength: stepsMax }),
      inBudget(async (mode, steps) => {
        const course = await Course.start(ingest, mode);
        await course.ingest(...course.flaky('a', 5));
        for (const { what, passes } of steps)
          for (const job of what === 'flaky'
            ? course.flaky('a', passes)
            : [course.run(`run ${course.at}`, { a: what as Status }, { hours: 13 })])
            await course.ingest(job);
        const { quarantines } = await ingest.stores.quarantines.snapshot(course.id);
        const report = await course.backtest({ auto_quarantine: mode });
        // The service never releases, so only the first one is comparable.
        const first = report.quarantines.toSorted((a, b) => (a.quarantined_at < b.quarantined_at ? -1 : 1)).slice(0, 1);
        expect(first.map(({ test_name, reason }) => ({ test_name, reason }))).toEqual(
          quarantines.map(({ testName, reason }) => ({ test_name: testName, reason })),
        );
        all += quarantines.length;
      }),
    ),
    { numRuns, examples: [QUARANTINED] },
  );
  return all;
}
