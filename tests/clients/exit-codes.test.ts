/** What exit codes of the client mean (docs/agents.md): for every command, by the downloaded client. */
import { beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { makeFolder } from '../support/folder.ts';
import { runClient } from './support/client.ts';
import { sharedService } from './support/service.ts';
import { FLAKY, shopWithHistory } from './support/shop.ts';

let repository: string;
let known: Record<string, string>;
const folder = makeFolder('exit-codes');
const report = join(folder, 'unit.xml');
beforeAll(async () => {
  repository = `acme/${await shopWithHistory()}`;
  const { origin, token } = await sharedService();
  known = { CI_INSIGHTS_URL: origin, CI_INSIGHTS_TOKEN: token };
  await Bun.write(report, '<testsuite name="a"><testcase classname="a" name="b"><failure/></testcase></testsuite>');
});

const runIn = async (args: readonly string[], env: Record<string, string>) =>
  runClient('node', [...args], { env, cwd: folder });

/** What a CI provider would say. */
const RUN = ['--commit', 'e1e1e1e', '--branch', 'a', '--pipeline', 'p', '--job', 'j', '--run-id', '1'];

/** Commands that ask a service, with what they need. */
const ASKING: readonly (readonly string[])[] = [
  ['push', 'junit', report, ...RUN],
  ['tests'],
  ['why', `shop.${FLAKY.name}`],
  ['why', '--commit', 'abc1234'],
  ['logs'],
  ['quarantine', 'list'],
  ['quarantine', 'add', 'a test', '--reason', 'because'],
  ['quarantine', 'remove', 'a test'],
];

describe('2 is wrong usage', () => {
  test.each([...ASKING, ['gate', 'junit', report], ['split'], ['rerun'], ['mcp'], ['skill']])(
    '%s %s',
    async (...args) => {
      const { code, stdout, stderr } = await runIn([...args, '--no-such-option'], {});
      expect([code, stdout]).toEqual([2, '']);
      expect(stderr).toContain("error: unknown option '--no-such-option'");
    },
  );
});

describe('1 is an error, with its reason in a sentence on standard error, and nothing on standard output', () => {
  test.each(ASKING)('%s %s, with a key that is not known', async (...args) => {
    const env = { ...known, CI_INSIGHTS_TOKEN: 'cii_wrong' };
    const ran = await runIn([...args, '--repo', repository, '--timeout', '10'], env);
    expect(ran.code).toBe(1);
    expect(ran.printed).toContain('The credential is unknown, expired or revoked.');
    if (args[0] !== 'push') expect(ran.stdout).toBe('');
  });

  test.each(ASKING)('%s %s, without an address of a service', async (...args) => {
    const ran = await runIn([...args, '--repo', repository], {});
    expect([ran.code, ran.stderr]).toEqual([1, expect.stringMatching(/\.\n$/)]);
  });

  test('rerun without a command', async () => {
    const { code, stderr } = await runIn(['rerun'], {});
    expect([code, stderr]).toEqual([1, expect.stringContaining('Write the command after --')]);
  });
});

describe('0 is done, and JSON on standard output is one value', () => {
  test.each<string[]>([
    ['tests'],
    ['tests', 'no such name'],
    ['why', `shop.${FLAKY.name}`],
    ['logs'],
    ['logs', '--type', 'test.dequarantined', '--pull-request', '424242'],
    ['quarantine', 'list'],
    ['push', 'junit', report, ...RUN],
  ])('%s %s %s', async (...args) => {
    const { code, stdout, stderr } = await runIn([...args, '--json', '--repo', repository], known);
    expect([code, stderr]).toEqual([0, expect.any(String)]);
    expect(JSON.parse(stdout)).toBeObject();
  });

  test('mcp at the end of its input, and skill', async () => {
    expect((await runClient('node', ['mcp'], { env: known, input: '' })).code).toBe(0);
    expect((await runIn(['skill'], {})).code).toBe(0);
  });
});

describe('others are those of the command', () => {
  test('why: 4 if it is not enough to say, such as of a commit of which nothing has arrived', async () => {
    const { code, stdout } = await runIn(['why', '--commit', 'abc1234', '--json', '--repo', repository], known);
    expect([code, JSON.parse(stdout)]).toMatchObject([4, { total: 0 }]);
  });

  test('gate: 1 for a failure that nothing excuses', async () => {
    const { code, stdout } = await runIn(['gate', 'junit', report, '--json', ...RUN, '--repo', repository], known);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({ failures: [{ name: 'a.b', isExcused: false }], failuresLeftOut: 0 });
  });

  test.each([
    ['true', '80', 0],
    ['true', '2', 5],
    ['false', '40', 4],
    ['test ! -e ran && touch ran', '40', 3],
    ['exit 127', '40', 127],
  ])('rerun: of %s, at most %s times, %d', async (script, most, expected) => {
    const { code } = await runIn(['rerun', '--max', most, '--until', '50%', '--json', '--', 'sh', '-c', script], {});
    expect(code).toBe(expected);
  });
});
