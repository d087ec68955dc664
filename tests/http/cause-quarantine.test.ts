/** A quarantined cause: its failures are excused wherever they happen, and no others. From the upload to the verdicts of gate. */
import { describe, expect, test } from 'bun:test';
import { DAY_MS, HOUR_MS, SECOND_MS } from '../../src/domain/time.ts';
import type { CausePage } from '../../src/insights/cause.ts';
import type { CauseList } from '../../src/insights/causes.ts';
import type { CommitFailures } from '../../src/insights/commit-failures.ts';
import type { QuarantineListAnswer } from '../../src/quarantines/schemas.ts';
import { TEST_NOW } from '../support/clock.ts';
import { setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const days = (count: number): number => TEST_NOW - count * DAY_MS;
const failed = (name: string, at: number, message: string): TestExecution => ({
  ...{ name, at, status: 'failed' },
  failures: [{ type: 'ConnectionError', message }],
});
const unreachable = (name: string): string => `cannot reach '${name}db.internal' port closed by peer`;
const outage = (tests: string, at: number): TestExecution[] =>
  [...tests].map((name, i) => failed(`test ${name}`, at + i * SECOND_MS, unreachable(name)));
const passed = (tests: string, at: number): TestExecution[] => [...tests].map((name) => ({ name: `test ${name}`, at }));

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([failed('old', days(20), 'ledger rounding went wrong')], { commit: 'c20' }),
    fixture.run(passed('abcdefgh', days(4)), { commit: 'c4' }),
    // Two causes: fewer tests than a burst has. A burst makes them one.
    fixture.run(outage('ab', days(2)), { commit: 'c2' }),
  );
});
const base = () => insights.fixture.base;
const get = <T>(path: string) => insights.app.get<T>(`${base()}${path}`);
const send = (method: string, path: string, body?: unknown) =>
  insights.app.request(`${base()}${path}`, {
    method,
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
  });
const causes = async (words: string) => (await get<CauseList>(`/causes?q=${encodeURIComponent(words)}`)).causes;
const idOf = async (words: string): Promise<string> => (await causes(words))[0]?.cause_id ?? '';
const listed = async (query = '?narrowed=include') =>
  (await get<QuarantineListAnswer>(`/quarantines${query}`)).quarantined_tests;
const namesOf = async (query?: string) => (await listed(query)).map(({ test_name: name }) => name).sort();

let changes = 0;
/** Uploads a run of a pull request, and says of each failed test whether it is excused. */
async function excusedOf(executions: TestExecution[]): Promise<Record<string, boolean>> {
  const commit = `pr-${++changes}`;
  const of = { branch: 'feature', base_ref: 'main', pull_request: 7, commit };
  await insights.fixture.ingest(insights.fixture.run(executions, of));
  const { failures } = await get<CommitFailures>(`/commits/${commit}/failures`);
  return Object.fromEntries(failures.map(({ test_name: name, verdict }) => [name, verdict === 'quarantined']));
}

describe('a quarantined cause', () => {
  test('excuses its failures of each test that it hit, and no other failure of these tests', async () => {
    const id = await idOf('adb');
    expect(await excusedOf([failed('test a', days(1), unreachable('a'))])).toEqual({ 'test a': false });
    await send('PATCH', `/causes/${id}`, { owner: 'team-net', ticket_url: 'https://tickets.example/N-1' });
    const response = await send('POST', `/causes/${id}/quarantine`, { reason: 'the network moves' });
    expect(response.status).toBe(201);
    expect(await excusedOf([failed('test a', days(1), unreachable('a'))])).toEqual({ 'test a': true });
    expect(await excusedOf([failed('test a', days(1), 'the total is negative')])).toEqual({ 'test a': false });
    expect(await excusedOf([failed('test b', days(1), unreachable('b'))])).toEqual({ 'test b': false });
    // One of two failures of a test is not enough.
    const both = [unreachable('a'), 'the total is negative'].map((message) => ({ type: 'ConnectionError', message }));
    const twice: TestExecution = { name: 'test a', at: days(1), status: 'failed', failures: both };
    expect(await excusedOf([twice, failed('test a', days(1) + 1, 'the total is negative')])).toEqual({
      'test a': false,
    });
  });

  test('is shown with its terms to those who read narrowings, and to no others', async () => {
    const id = await idOf('adb');
    const shown = await listed();
    expect(shown).toMatchObject([
      {
        ...{ test_name: 'test a', reason: 'the network moves', cause_id: id, branch: null, source: 'manual' },
        ...{ owner: 'team-net', ticket_url: 'https://tickets.example/N-1' },
      },
    ]);
    expect(shown[0]?.failure_ids).toHaveLength(1);
    expect(await listed('?branch=main')).toEqual([]);
    const checked = await send('POST', '/quarantines/check', { tests_names: ['test a'], branch: null });
    expect(await checked.json()).toEqual({ quarantined_tests_names: [], non_quarantined_tests_names: ['test a'] });
    const details = await get<CausePage>(`/causes/${id}`);
    expect(details.quarantine).toMatchObject({ reason: 'the network moves', branch: null, expires_at: null });
    expect(details.tests[0]?.quarantine_ids).toEqual([shown[0]?.id ?? '']);
    expect((await causes('adb'))[0]?.quarantine).toEqual(details.quarantine);
    expect((await causes('bdb'))[0]?.quarantine).toBeNull();
    const effects = await get<{ effects: { quarantine_id: string; failed_executions: number }[] }>(
      '/quarantine-effects',
    );
    expect(effects.effects.map(({ quarantine_id: of }) => of)).toEqual([shown[0]?.id ?? '']);
  });

  test('cannot be quarantined twice, nor be given other failures', async () => {
    const id = await idOf('adb');
    expect((await send('POST', `/causes/${id}/quarantine`, { reason: 'again' })).status).toBe(409);
    const [first] = await listed();
    const other = { failure_ids: ['3f1a8b52-90c4-5d27-8f0e-6b1d2c3e4f50'] };
    expect((await send('PATCH', `/quarantines/${first?.id}`, other)).status).toBe(409);
    expect((await send('PATCH', `/quarantines/${first?.id}`, { failure_ids: null })).status).toBe(409);
    expect((await send('PATCH', `/quarantines/${first?.id}`, { owner: 'team-a' })).status).toBe(200);
    const unknown = '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14';
    for (const method of ['POST', 'DELETE'])
      expect((await send(method, `/causes/${unknown}/quarantine`, { reason: 'x' })).status).toBe(404);
    const past = { reason: 'x', expires_at: '2020-01-01T00:00:00Z' };
    expect((await send('POST', `/causes/${await idOf('bdb')}/quarantine`, past)).status).toBe(422);
  });

  test('covers what joins it: the tests of a cause that it is merged with, and messages of others', async () => {
    const before = [await idOf('adb'), await idOf('bdb')];
    await insights.fixture.ingest(insights.fixture.run(outage('abcdef', days(2) + HOUR_MS), { commit: 'c3' }));
    const [merged, ...others] = await causes('closed');
    expect([others, merged?.cause_id]).toEqual([[], before[0] ?? '']);
    expect(await namesOf()).toEqual([...'abcdef'].map((name) => `test ${name}`));
    const all = outage('abcdef', days(1));
    expect(new Set(Object.values(await excusedOf(all)))).toEqual(new Set([true]));
    // A message of the cause that this test had not shown yet.
    expect(await excusedOf([failed('test a', days(1), unreachable('f'))])).toEqual({ 'test a': true });
    expect(await excusedOf([failed('test f', days(1), 'the total is negative')])).toEqual({ 'test f': false });
  });

  test('that was merged into another takes its quarantine along', async () => {
    const at = days(2) + 12 * HOUR_MS;
    const slow = (tests: string, from: number) =>
      [...tests].map((name, i) =>
        failed(`test ${name}`, from + i * SECOND_MS, `'${name}mq' broker rejected handshake`),
      );
    await insights.fixture.ingest(insights.fixture.run(slow('gh', at), { commit: 'c5' }));
    const [older, younger] = [await idOf('gmq'), await idOf('hmq')];
    expect(older).not.toBe(younger);
    expect((await send('POST', `/causes/${younger}/quarantine`, { reason: 'broker' })).status).toBe(201);
    await insights.fixture.ingest(insights.fixture.run(slow('ghabcd', at + HOUR_MS), { commit: 'c6' }));
    expect((await get<CausePage>(`/causes/${younger}`)).cause_id).toBe(older);
    expect((await get<CausePage>(`/causes/${older}`)).quarantine).toMatchObject({ reason: 'broker' });
    const excused = await excusedOf(slow('ghabcd', days(1)));
    expect(new Set(Object.values(excused))).toEqual(new Set([true]));
    expect((await send('DELETE', `/causes/${older}/quarantine`)).status).toBe(204);
    expect(Object.values(await excusedOf(slow('gh', days(1))))).not.toContain(true);
  });

  test('leaves a test alone that a person released, and is released as a whole', async () => {
    const id = await idOf('adb');
    const ofB = (await listed()).find(({ test_name: name }) => name === 'test b');
    expect((await send('DELETE', `/quarantines/${ofB?.id}`)).status).toBe(204);
    const again = [...outage('abc', days(1)), failed('test g', days(1), unreachable('a'))];
    await insights.fixture.ingest(insights.fixture.run(again, { commit: 'c7' }));
    expect(await namesOf()).toEqual([...'acdefg'].map((name) => `test ${name}`));
    expect((await send('DELETE', `/causes/${id}/quarantine`)).status).toBe(204);
    expect((await send('DELETE', `/causes/${id}/quarantine`)).status).toBe(404);
    expect(await listed()).toEqual([]);
    expect(Object.values(await excusedOf(outage('abc', days(1))))).not.toContain(true);
    const { owner, name } = insights.fixture.repository;
    const { entries } = await insights.app.get<{ entries: { action: string; object: { id: string } }[] }>(
      `/v1/audit?owner=${owner}&repository=${name}&action=cause.release&action=cause.quarantine`,
    );
    expect(entries.map(({ action }) => action)).toEqual([
      ...['cause.release', 'cause.release', 'cause.quarantine', 'cause.quarantine'],
    ]);
    expect(entries[0]?.object.id).toBe(id);
  });
});
