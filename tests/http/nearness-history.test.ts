/** What the default branch has shown of changes and the tests near them counts in claims, and is shown. */
import { beforeAll, expect, test } from 'bun:test';
import { writeChangedFiles } from '../../src/postgres/changed-files.ts';
import { at, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const TESTS = 40;
const fileOf = (i: number): string => `part${i}/check${i}.test.ts`;
const execution = (i: number, hoursAgo: number, isFailed = false): TestExecution => ({
  ...{ name: `check ${i}`, status: isFailed ? 'failed' : 'passed', at: at(hoursAgo), filepath: fileOf(i) },
  failures: isFailed ? [{ type: 'Error', message: `broke ${i}` }] : [],
});
const BROKEN = 5;
const PULL = { branch: 'feature', base_ref: 'main', pull_request: 7, commit: 'own' };

const insights = await setUpInsights();
beforeAll(async () => {
  const { fixture, app } = insights;
  const all = Array.from({ length: TESTS }, (_, i) => i);
  // Commit n breaks test n, which stays broken.
  await fixture.ingest(
    ...Array.from({ length: 20 }, (_, run) => fixture.run(all.map((i) => execution(i, 140 - run)))),
    ...Array.from({ length: 20 }, (_, run) => {
      const commit = `broken${run}`;
      return fixture.run(
        all.map((i) => execution(i, 100 - run, i < BROKEN && i <= run)),
        { commit },
      );
    }),
    fixture.run([execution(TESTS - 1, 20, true)], PULL),
  );
  const { db } = app.stores.postgres;
  for (let i = 0; i < BROKEN; i++)
    await writeChangedFiles(
      db,
      { repositoryId: fixture.id, commit: `broken${i}` },
      { paths: [fileOf(i)], isConfined: false },
      0,
    );
});

test('where each break was in a changed file, the next one there is likelier than was assumed', async () => {
  const { app, fixture } = insights;
  const response = await app.request(`${fixture.base}/claims`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ commit: 'own', changed_files: [fileOf(TESTS - 1)] }),
  });
  const { claims } = (await response.json()) as { claims: { for: { sign: string; sentence: string }[] }[] };
  const said = claims[0]?.for.find(({ sign }) => sign === 'changed_files')?.sentence ?? '';
  const times = Number(/tests (\S+) times/.exec(said)?.[1]);
  // Five of five breaks, where one test of forty is in the file: (4 + 5) / (4 / 6 + 5 / 40), by an average of 0.65.
  expect([said, times]).toEqual([expect.stringContaining(`touches ${fileOf(TESTS - 1)}, near the test`), 17]);
});
