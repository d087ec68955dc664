/** Effects of quarantines, counted by the service and by the rule that decides what a quarantine covers. */
import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Axes, axesText } from '../../src/domain/axes.ts';
import { FINGERPRINT_VERSION, normaliseMessage } from '../../src/domain/fingerprint.ts';
import { failureIdOf, testIdOf } from '../../src/domain/identity.ts';
import { covers } from '../../src/domain/quarantine-scope.ts';
import type { Quarantine } from '../../src/postgres/quarantine-records.ts';
import { QuarantineStore } from '../../src/postgres/quarantines.ts';
import { TEST_NOW } from '../support/clock.ts';
import { at, type InsightsFixture, iso, setUpInsights } from '../support/insights.ts';

interface Effect {
  quarantine_id: string;
  counted_since: string;
  failed_executions: number;
  red_runs: number;
  spared_runs: number;
}
interface Effects {
  effects: Effect[];
  is_complete: boolean;
}

const TESTS = ['cart', 'mail', 'pays'];
const BRANCHES = ['main', 'release/1', 'release/1/fix', 'feature(a+b)'];
const MESSAGES = ['timed out', 'no such key'];
const PIPELINES = ['CI', 'nightly'];
const JOBS = ['unit', 'e2e'];
const LEGS: (Axes | undefined)[] = [undefined, { os: 'windows' }, { os: 'linux', 'a"b"ü': 'x' }, { 'a"b"ü': 'x' }];

const failing = (name: string, hoursAgo: number, ...messages: string[]) => ({
  name,
  at: at(hoursAgo),
  status: 'failed' as const,
  failures: messages.map((message) => ({ type: 'Error', message })),
});

interface RandomRun {
  hoursAgo: number;
  branch: string | null;
  base: string | null;
  pipeline: string;
  job: string;
  axes: Axes | undefined;
  /** Each failed, with these messages in its attempts. */
  failed: { name: string; messages: string[] }[];
}
const runs = fc.sample(
  fc.record<RandomRun>({
    hoursAgo: fc.integer({ min: 1, max: 200 }),
    branch: fc.constantFrom(...BRANCHES, null),
    base: fc.constantFrom('main', 'release/1', null),
    pipeline: fc.constantFrom(...PIPELINES),
    job: fc.constantFrom(...JOBS),
    axes: fc.constantFrom(...LEGS),
    failed: fc.array(
      fc.record({
        name: fc.constantFrom(...TESTS),
        messages: fc.array(fc.constantFrom(...MESSAGES), { minLength: 1, maxLength: 2 }),
      }),
      { maxLength: 3 },
    ),
  }),
  { numRuns: 150, seed: 20_261_122 },
);

async function fill(fixture: InsightsFixture): Promise<void> {
  await fixture.ingest(
    ...runs.map(({ hoursAgo, branch, base, pipeline, job, axes, failed }) =>
      fixture.run(
        [
          { name: 'steady', at: at(hoursAgo) },
          ...failed.map(({ name, messages }) => failing(name, hoursAgo, ...messages)),
        ],
        { branch, base_ref: base, pipeline_name: pipeline, job_name: job, ...(axes && { axes }) },
      ),
    ),
  );
}

const insights = setUpInsights(fill);
let store: QuarantineStore;
beforeAll(() => {
  const { postgres, clock } = insights.app.stores;
  store = new QuarantineStore(postgres.db, clock);
});

const groupOf = (fixture: InsightsFixture, name: string, message: string): string =>
  failureIdOf(testIdOf(fixture.id, name), FINGERPRINT_VERSION, 'Error', normaliseMessage(message));
const effectsOf = (fixture: InsightsFixture) => insights.app.get<Effects>(`${fixture.base}/quarantine-effects`);

const SCOPES: Quarantine['axes'][] = [
  null,
  { os: ['windows'] },
  { os: ['linux', 'windows'] },
  { 'a"b"ü': ['x'], os: ['linux'] },
];

type Scope = Partial<Pick<Quarantine, 'branch' | 'pipelineName' | 'jobName' | 'axes' | 'failureIds'>>;

async function quarantine(
  fixture: InsightsFixture,
  testName: string,
  hoursAgo: number,
  scope: Scope = {},
): Promise<Quarantine | undefined> {
  const { clock } = insights.app.stores;
  clock.set(at(hoursAgo));
  const wanted = { testName, reason: 'r', branch: null, ...scope };
  const made = await store.create(fixture.id, wanted, { name: 'ann', actor: null });
  clock.set(TEST_NOW);
  return made;
}

/** For each failed execution of a run, which of the quarantines excuse it. */
const excusedIn = (run: RandomRun, quarantines: readonly Quarantine[]): Quarantine[][] =>
  run.failed.map(({ name, messages }) => {
    const failureId = groupOf(insights.fixture, name, messages.at(-1) ?? '');
    const place = { pipelineName: run.pipeline, jobName: run.job, axes: axesText(run.axes), failureId };
    const branches = [run.branch, run.base].filter((one) => one !== null);
    return quarantines.filter(
      (one) =>
        one.testName === name &&
        one.createdAt.getTime() <= at(run.hoursAgo) &&
        // An unknown branch is one of every branch.
        (one.branch === null ? ['any'] : branches).some((branch) => covers(one, { ...place, branch })),
    );
  });

function expected(quarantines: readonly Quarantine[]): Omit<Effect, 'quarantine_id' | 'counted_since'>[] {
  const excused = runs.map((run) => excusedIn(run, quarantines));
  return quarantines.map((quarantine) => {
    const red = excused.filter((failures) => failures.some((by) => by.includes(quarantine)));
    return {
      failed_executions: red.flat().filter((by) => by.includes(quarantine)).length,
      red_runs: red.length,
      spared_runs: red.filter((failures) => failures.every((by) => by.length > 0)).length,
    };
  });
}

describe('the effects of quarantines', () => {
  test('are those of the rule that decides what a quarantine covers', async () => {
    const scope = fc.record({
      name: fc.constantFrom(...TESTS),
      hoursAgo: fc.integer({ min: 1, max: 200 }),
      branch: fc.constantFrom(null, 'main', 'release/*', 'release/**', 'feature(?+b)', '*'),
      pipelineName: fc.constantFrom(null, null, ...PIPELINES),
      jobName: fc.constantFrom(null, null, ...JOBS),
      axes: fc.constantFrom(null, ...SCOPES),
      messages: fc.constantFrom(null, null, ['timed out'], MESSAGES),
    });
    let spared = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(scope, { minLength: 1, maxLength: 7 }), async (scopes) => {
        const made: Quarantine[] = [];
        for (const { name, hoursAgo, messages, ...rest } of scopes) {
          const failureIds = messages?.map((message) => groupOf(insights.fixture, name, message)).sort() ?? null;
          const one = await quarantine(insights.fixture, name, hoursAgo, { ...rest, failureIds });
          if (one) made.push(one);
        }
        try {
          const { effects } = await effectsOf(insights.fixture);
          const byId = new Map(
            effects.map(({ quarantine_id, counted_since: _, ...counts }) => [quarantine_id, counts]),
          );
          const wanted = expected(made);
          expect(made.map(({ id }) => byId.get(id))).toEqual(wanted);
          spared += wanted.reduce((sum, { spared_runs }) => sum + spared_runs, 0);
        } finally {
          for (const { id } of made) await store.remove(insights.fixture.id, id, { name: 'ann', actor: null });
        }
      }),
      { numRuns: 8 },
    );
    // Else the property would have compared zeros.
    expect(spared).toBeGreaterThan(0);
  });

  test('count a run as spared only if every test that failed in it is excused', async () => {
    const fixture = insights.fixture.another();
    await fixture.ingest(
      fixture.run([failing('a', 9, 'x')]),
      fixture.run([failing('a', 8, 'x'), failing('b', 8, 'x')]),
      fixture.run([failing('a', 7, 'x'), failing('b', 7, 'x'), failing('c', 7, 'x')]),
      // Before the quarantine began.
      fixture.run([failing('a', 30, 'x')]),
    );
    const a = await quarantine(fixture, 'a', 20);
    const alone = { failed_executions: 3, red_runs: 3, spared_runs: 1 };
    expect(await effectsOf(fixture)).toEqual({
      effects: [{ quarantine_id: a?.id ?? '', counted_since: iso(at(20)), ...alone }],
      is_complete: true,
    });
    await quarantine(fixture, 'b', 20);
    expect((await effectsOf(fixture)).effects).toMatchObject([
      { ...alone, spared_runs: 2 },
      { failed_executions: 2, red_runs: 2, spared_runs: 1 },
    ] as never);
    await store.remove(fixture.id, a?.id ?? '', { name: 'ann', actor: null });
    expect((await effectsOf(fixture)).effects).toMatchObject([{ red_runs: 2, spared_runs: 0 }] as never);
  });

  test('are those of its legs alone, and spare the other legs nothing', async () => {
    const fixture = insights.fixture.another();
    const legOf = (os: string) => fixture.run([failing('a', 8, 'x')], { run_id: 'same', commit: 'same', axes: { os } });
    await fixture.ingest(legOf('windows'), legOf('linux'), fixture.run([failing('a', 7, 'x')]));
    await quarantine(fixture, 'a', 20, { axes: { os: ['windows'] } });
    expect((await effectsOf(fixture)).effects).toMatchObject([
      { failed_executions: 1, red_runs: 1, spared_runs: 1 },
    ] as never);
    await quarantine(fixture, 'a', 20);
    expect((await effectsOf(fixture)).effects).toMatchObject([
      { failed_executions: 1, red_runs: 1, spared_runs: 1 },
      { failed_executions: 3, red_runs: 3, spared_runs: 3 },
    ] as never);
  });

  test('are counted for ninety days, and are none where nothing is quarantined or nothing was sent', async () => {
    const fixture = insights.fixture.another();
    expect(await effectsOf(fixture)).toEqual({ effects: [], is_complete: true });
    await fixture.ingest(fixture.run([{ name: 'a' }]));
    expect(await effectsOf(fixture)).toEqual({ effects: [], is_complete: true });
    const old = await quarantine(fixture, 'a', 24 * 365);
    expect((await effectsOf(fixture)).effects).toEqual([
      {
        quarantine_id: old?.id ?? '',
        counted_since: iso(at(24 * 90)),
        failed_executions: 0,
        red_runs: 0,
        spared_runs: 0,
      },
    ]);
  });
});
