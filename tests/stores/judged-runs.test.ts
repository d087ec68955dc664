/** Stored runs: added to, judged, and read in order and by the hour. */
import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import { usualHours } from '../../src/domain/run-surroundings.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import {
  type AddedRun,
  addToRuns,
  findRuns,
  nameOfRun,
  readMeanings,
  readPastRuns,
  readRecentRuns,
  readRuns,
  readUsualHours,
  type StoredRun,
  writeMeanings,
} from '../../src/postgres/judged-runs.ts';
import { openTestStores } from '../support/stores.ts';

const { db } = (await openTestStores()).postgres;

const BEGUN = Date.UTC(2026, 0, 5);
const run = (number: number, more: Partial<AddedRun> = {}): AddedRun => ({
  pipelineName: 'CI "nightly"',
  jobName: 'unit, {linux}',
  axes: '{"os":"linux"}',
  day: BEGUN / DAY_MS,
  runId: `r${number}`,
  runAttempt: 1,
  commit: '',
  startedAt: BEGUN + number * HOUR_MS,
  executions: 10,
  ...more,
});

const calm = (added: AddedRun): StoredRun => ({
  ...added,
  unexpected: new Set(),
  expected: new Set(),
  again: new Set(),
  meaning: null,
});

test('a run that comes in parts begins with the first of its executions', async () => {
  const repositoryId = randomUUID();
  expect(await addToRuns(db, repositoryId, [run(2), run(3)])).toEqual(
    [run(2), run(3)].map((one) => ({ ...one, knownStart: null })),
  );
  const earlier = run(2, { startedAt: BEGUN, executions: 5 });
  expect(await addToRuns(db, repositoryId, [earlier])).toEqual([
    { ...earlier, executions: 15, knownStart: run(2).startedAt },
  ]);
  expect(await readRuns(db, repositoryId, BEGUN)).toEqual([calm({ ...earlier, executions: 15 }), calm(run(3))]);
  expect(await readRuns(db, randomUUID(), 0)).toEqual([]);
});

test('what a run means is read as it was written', async () => {
  const repositoryId = randomUUID();
  await addToRuns(db, repositoryId, [run(1), run(2)]);
  const meaning = {
    unexpected: {
      healthyFails: 0.000_04,
      anyBreaks: 0.000_175,
      breaks: 0,
      isShared: 0.99,
      lasting: 0,
      together: 0.21,
      brokenAfter: HOUR_MS,
    },
    expected: {
      healthyFails: 0.023,
      anyBreaks: 0.000_175,
      breaks: 0.12,
      isShared: 0,
      lasting: 0.012,
      together: 0.21,
      brokenAfter: HOUR_MS,
    },
  };
  const again = randomUUID();
  const judged = {
    ...run(1),
    unexpected: new Set([randomUUID(), randomUUID()]),
    expected: new Set([again]),
    again: new Set([again]),
    meaning,
  };
  await writeMeanings(db, repositoryId, [judged, calm(run(2))]);
  expect(await readRuns(db, repositoryId, 0)).toEqual([judged, calm(run(2))]);
  expect(await readPastRuns(db, repositoryId, { from: 0, to: run(2).startedAt })).toEqual([
    { ...run(1), unexpectedCount: 2, meaning },
  ]);
  expect(await readRecentRuns(db, repositoryId, { from: 0, to: run(2).startedAt })).toEqual([
    { startedAt: run(1).startedAt, executions: run(1).executions, unexpected: 2, place: '' },
  ]);
  const known = new Map([[nameOfRun(run(1)), { meaning }]]);
  expect(await readMeanings(db, repositoryId)).toEqual(known);
  expect(await findRuns(db, repositoryId, [run(1), run(3), run(1, { commit: 'a1b2' })])).toEqual([
    { ...run(1), unexpectedCount: 2, meaning },
  ]);
  expect(await findRuns(db, randomUUID(), [run(1)])).toEqual([]);
  await writeMeanings(db, repositoryId, [calm(run(1))]);
  expect(await readRuns(db, repositoryId, 0)).toEqual([calm(run(1)), calm(run(2))]);
});

test('what is usual is summed by the hour as the rules do, without pull requests', async () => {
  const repositoryId = randomUUID();
  const added = [
    ...[0, 1, 1.5, 1.9, 30].map((hours, i) => run(i, { startedAt: BEGUN + hours * HOUR_MS })),
    run(9, { commit: 'a1b2' }),
  ];
  await addToRuns(db, repositoryId, added);
  const testIds = added.map(() => randomUUID());
  const judged = added.map((one, i) => ({ ...calm(one), unexpected: new Set(testIds.slice(0, i)) }));
  await writeMeanings(db, repositoryId, judged);
  const counted = judged
    .filter(({ commit, startedAt }) => commit === '' && startedAt < BEGUN + DAY_MS)
    .map(({ unexpected, ...one }) => ({ ...one, unexpected: unexpected.size, place: '' }));
  expect(await readUsualHours(db, repositoryId, { from: BEGUN, to: BEGUN + DAY_MS })).toEqual(usualHours(counted));
});
