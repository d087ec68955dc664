/** The files that a commit changed, as its jobs send them, and the claims that count them. */
import { beforeAll, expect, test } from 'bun:test';
import { boundsOfKey } from '../../src/domain/report-bounds.ts';
import { forgetChangedFiles, readChangedFiles } from '../../src/postgres/changed-files.ts';
import { at, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const NAME = 'tests.test_cart.test_total';
const NEAR =
  'The change touches src/cart.py, near the test. Here, changes break such tests 4 times as often as others.';
const failing = (hoursAgo: number): TestExecution => ({
  ...{ name: NAME, status: 'failed', at: at(hoursAgo), filepath: 'tests/test_cart.py' },
  ...{ failures: [{ type: 'Error', message: 'expected 3 got 4' }] },
});
const passing = (hoursAgo: number): TestExecution => ({
  ...{ name: NAME, at: at(hoursAgo), filepath: 'tests/test_cart.py' },
});
const pull = { branch: 'feature', base_ref: 'main', pull_request: 7 };
const COMMITS = ['own', 'other', 'confined', 'merged'] as const;

const insights = await setUpInsights();
beforeAll(async () => {
  const { fixture } = insights;
  await fixture.ingest(
    ...Array.from({ length: 20 }, (_, i) => fixture.run([passing(140 - i)])),
    ...COMMITS.map((commit) => fixture.run([failing(40)], { ...pull, commit })),
    fixture.run([failing(39)], { commit: 'merged' }),
  );
});

interface Reasoned {
  for: { sign: string; sentence: string }[];
  against: { sign: string; sentence: string }[];
}
const filesIn = (one: Reasoned | undefined): string[] =>
  [...(one?.for ?? []), ...(one?.against ?? [])].flatMap(({ sign, sentence }) =>
    sign === 'changed_files' ? [sentence] : [],
  );

const send = (commit: string, paths: readonly string[], token?: string, more: Record<string, unknown> = {}) =>
  insights.app.request(`${insights.fixture.base}/commits/${commit}/changed-files`, {
    ...{ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ paths, ...more }) },
    ...(token !== undefined && { token }),
  });

/** What the failures of a commit, and the claims about it, say of its files. */
async function saidOf(commit: string, changed_files: readonly string[] = []) {
  const { app, fixture } = insights;
  const listed = await app.get<{ failures: { claim: Reasoned }[] }>(`${fixture.base}/commits/${commit}/failures`);
  const response = await app.request(`${fixture.base}/claims`, {
    ...{ method: 'POST', headers: { 'content-type': 'application/json' } },
    body: JSON.stringify({ commit, changed_files }),
  });
  const asked = (await response.json()) as { claims: Reasoned[]; compared_with: { changed_files: number } };
  return {
    listed: filesIn(listed.failures[0]?.claim),
    asked: filesIn(asked.claims[0]),
    files: asked.compared_with.changed_files,
  };
}

test('the claims of a commit count the files that its job has sent, unless the question names others', async () => {
  expect(await saidOf('own')).toEqual({ listed: [], asked: [], files: 0 });
  expect(await (await send('own', ['src/cart.py', 'README.md', 'README.md'])).json()).toEqual({ is_changed: true });
  expect(await (await send('own', ['README.md', 'src/cart.py'])).json()).toEqual({ is_changed: false });
  expect(await saidOf('own')).toEqual({ listed: [NEAR], asked: [NEAR], files: 2 });
  const nothing =
    'The change touches nothing near the test. Here, changes break such tests 0.7 times as often as others.';
  expect(await saidOf('own', ['notes/a.txt'])).toEqual({ listed: [NEAR], asked: [nothing], files: 1 });
  expect(await saidOf('other')).toEqual({ listed: [], asked: [], files: 0 });
  expect(await (await send('own', [])).json()).toEqual({ is_changed: true });
  expect((await saidOf('own')).listed).toEqual([]);
});

test('what a key for pull requests sends counts off the default branch alone, and replaces nothing', async () => {
  const { app } = insights;
  const pulls = await app.makeKey({ scope: 'upload', bounds: boundsOfKey(true, null) });
  for (const commit of ['confined', 'merged']) expect((await send(commit, ['src/cart.py'], pulls)).status).toBe(200);
  expect((await saidOf('confined')).listed).toEqual([NEAR]);
  expect((await saidOf('merged')).listed).toEqual([]);
  expect(await (await send('confined', ['src/cart.py', 'a'])).json()).toEqual({ is_changed: true });
  expect(await (await send('confined', ['elsewhere.py'], pulls)).json()).toEqual({ is_changed: false });
  expect((await saidOf('confined')).listed).toEqual([NEAR]);
});

test('a key for some branches names one of them, and a key to read sends none', async () => {
  const { app } = insights;
  const release = await app.makeKey({ scope: 'upload', bounds: boundsOfKey(false, ['release/*']) });
  expect((await send('other', ['a.py'], release)).status).toBe(403);
  expect((await send('other', ['a.py'], release, { branch: 'release/1' })).status).toBe(200);
  const view = await app.makeKey({ scope: 'view' });
  expect((await send('other', ['b.py'], view)).status).toBe(403);
});

test('paths of any kind come back as they were, and leave with their age', async () => {
  const { db } = insights.app.stores.postgres;
  const paths = ['"quoted" \\ {a,b}.py', "d'oh.py", 'line\nbreak.py', 'NULL', 'ü.py'].sort();
  expect((await send('odd', paths)).status).toBe(200);
  const found = async () => (await readChangedFiles(db, insights.fixture.id, ['odd', 'nowhere'])).get('odd');
  expect(await found()).toEqual({ paths, isConfined: false });
  await forgetChangedFiles(db, 0);
  expect(await found()).toBeDefined();
  for (const wrong of [['a\0b'], [''], 'a.py', Array.from({ length: 3_001 }, () => 'a')])
    expect((await send('odd', wrong as string[])).status).toBe(422);
  expect(await found()).toEqual({ paths, isConfined: false });
});
