/** Reports over HTTP that contradict each other: legs by their order, with the line that names them; resends stay resends. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { junitReport, Uploads } from '../support/gateway.ts';

let uploads: Uploads;
beforeAll(async () => {
  uploads = await Uploads.open();
  uploads.app.stores.clock.set(TEST_NOW);
});
afterAll(() => uploads.close());

const NAMES = Array.from({ length: 20 }, (_, i) => `test ${i}`);
const failingIn = (...failing: string[]): string =>
  junitReport(
    NAMES.map((name) => (failing.includes(name) ? { name, inside: '<failure message="no drive"/>' } : { name })),
  );

test('each is its own leg and a resend of itself, in whatever order, and the receipt has the line to paste', async () => {
  const { base } = uploads.repository();
  const query = { report: 'junit.xml' };
  const linux = failingIn();
  const windows = failingIn('test 3');
  const macos = failingIn('test 3', 'test 4');
  expect(await uploads.store(base, linux, query)).toMatchObject({
    accepted: 20,
    unnamed_leg: null,
    name_legs_with: null,
  });
  const second = await uploads.store(base, windows, query);
  expect(second).toMatchObject({
    ...{ accepted: 20, duplicate: 0, conflicting: 1, unnamed_leg: 2 },
    name_legs_with: 'ci-insights push junit --axis os="$OS"',
  });
  expect(second.warnings).toHaveLength(1);
  expect(second.warnings[0]).toStartWith('Conflict: 1 result differs');
  expect(second.warnings[0]).toContain('leg 2 (unnamed)');
  expect(second.warnings[0]).toContain('ci-insights push junit --axis os="$OS"');
  expect(await uploads.store(base, macos, query)).toMatchObject({ accepted: 20, conflicting: 2, unnamed_leg: 3 });
  for (const [body, leg] of [
    [macos, 3],
    [linux, null],
    [windows, 2],
  ] as const)
    expect(await uploads.store(base, body, query)).toMatchObject({ accepted: 0, duplicate: 20, unnamed_leg: leg });
});

test('another attempt of the job is no leg, and legs that have names are never numbered', async () => {
  const { base } = uploads.repository();
  const linux = failingIn();
  const windows = failingIn('test 3');
  await uploads.store(base, linux, { report: 'junit.xml', run_attempt: '1' });
  expect(await uploads.store(base, windows, { report: 'junit.xml', run_attempt: '2' })).toMatchObject({
    accepted: 20,
    unnamed_leg: null,
  });
  expect(await uploads.store(base, windows, { report: 'junit.xml', axis: 'os:windows' })).toMatchObject({
    accepted: 20,
    unnamed_leg: null,
  });
});
