/** The commands that ask: `why`, `tests`, `quarantine` and `logs`, with the downloaded client against a real service. */
import { beforeAll, expect, test } from 'bun:test';
import { type Runtime, runClient } from './support/client.ts';
import { sharedService } from './support/service.ts';
import { FLAKY, QUARANTINED, shopWithHistory } from './support/shop.ts';

let repository: string;
beforeAll(async () => {
  repository = await shopWithHistory();
});

async function ask(args: string[], runtime: Runtime = 'node') {
  const service = await sharedService();
  const env = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
  const ran = await runClient(runtime, [...args, '--repo', `acme/${repository}`], { env });
  return { ...ran, lines: ran.stdout.trimEnd().split('\n') };
}

const FLAKY_NAME = `shop.${FLAKY.name}`;

test('why says how healthy a test is, how it failed, and whether it is quarantined', async () => {
  const { code, lines } = await ask(['why', FLAKY_NAME]);
  expect([code, lines[0]]).toEqual([0, `${FLAKY_NAME} is flaky on the default branch.`]);
  expect(lines).toContain('  2 times: AssertionError: timed out');
  expect((await ask(['why', `shop.${QUARANTINED.name}`], 'bun')).lines).toContain('Quarantined on every branch: flaky');
  const unknown = await ask(['why', 'shop.*']);
  expect([unknown.code, unknown.stderr]).toEqual([
    1,
    expect.stringContaining('No test of the default branch is named shop.*'),
  ]);
});

test('tests lists names by pattern, at most so many', async () => {
  const { code, lines } = await ask(['tests', 'shop.browses*', '--limit', '3']);
  expect([code, lines.length, lines[0]]).toEqual([0, 4, expect.stringMatching(/^TEST +PIPELINE +JOB +ID$/)]);
  expect(JSON.parse((await ask(['tests', FLAKY_NAME, '--json'])).stdout)).toMatchObject([{ test_name: FLAKY_NAME }]);
});

test('a quarantine is added with an end and someone responsible, listed, removed by the name of its test, and logged', async () => {
  const added = await ask([
    'quarantine',
    'add',
    FLAKY_NAME,
    '--reason',
    'times out',
    '--branch',
    'release/*',
    ...['--axis', 'os=windows', '--axis', 'python=3.13', '--axis', 'os=linux'],
    '--expires',
    '14d',
    '--responsible',
    'team-checkout',
  ]);
  expect([added.code, added.stdout]).toEqual([0, expect.stringContaining(`Quarantined ${FLAKY_NAME}: `)]);
  const listed = await ask(['quarantine', 'list', '--branch', 'release/1.4', '--json']);
  expect(JSON.parse(listed.stdout)).toContainEqual(
    expect.objectContaining({
      test_name: FLAKY_NAME,
      owner: 'team-checkout',
      branch: 'release/*',
      axes: { os: ['linux', 'windows'], python: ['3.13'] },
      expires_at: expect.any(String),
    }),
  );
  const shown = (await ask(['quarantine', 'list'])).stdout;
  for (const part of ['team-checkout', 'os=linux or windows, python=3.13']) expect(shown).toContain(part);
  expect((await ask(['quarantine', 'remove', FLAKY_NAME])).stdout).toBe('Ended 1 quarantine.\n');
  expect((await ask(['quarantine', 'list'])).stdout).not.toContain('team-checkout');
  const service = await sharedService();
  await service.until<{ size: number }>(
    `/v1/repos/acme/${repository}/logs?event_type=test.dequarantined`,
    ({ size }) => size > 0,
  );
  expect((await ask(['logs', '--type', 'test.quarantined', '--limit', '1'])).stdout).toContain(
    `${FLAKY_NAME}: times out`,
  );
  const twice = await ask(['quarantine', 'remove', FLAKY_NAME]);
  expect([twice.code, twice.stderr]).toEqual([1, expect.stringContaining('No quarantine has')]);
});
