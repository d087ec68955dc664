/**
 * The reporter packages, packed for npm, installed into an empty folder and run by their runners. A test has the same name
 * as in the report of the runner itself, so that one may change from one way to the other.
 */
import { beforeAll, describe, expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PACKAGES, pack } from '../../scripts/pack.ts';
import { runClient } from '../clients/support/client.ts';
import { jobEnvironment } from '../clients/support/job.ts';
import { packagesFolder } from '../clients/support/packages.ts';
import { recipe } from '../clients/support/recipes.ts';
import { machine, run } from '../clients/support/run.ts';
import { ClientService, freshRepository, ROOT, sharedService } from '../clients/support/service.ts';
import { atEnd } from '../support/at-end.ts';
import { makeFolder } from '../support/folder.ts';
import { hasRedis, startRedis } from '../support/redis.ts';

/** Payloads are compressed with zstd, which Node 20 does not have. */
const NODE = `node-${process.platform === 'darwin' ? 'darwin' : 'linux'}-${process.arch}`;
const RUNNERS = { [NODE]: '22.23.3', vitest: '4.1.12', jest: '30.5.2', '@playwright/test': '1.65.1' };

const tarballs = makeFolder('tarballs');
atEnd(async () => rmSync(tarballs, { recursive: true, force: true }));
const packed: Record<string, string> = {};
for (const name of PACKAGES) packed[`@ci-insights/${name}`] = `file:${await pack(name, tarballs)}`;
const folder = await packagesFolder({ ...RUNNERS, ...packed });

let service: ClientService;
beforeAll(async () => {
  service = await sharedService();
});

const FILES: Record<string, string> = {
  'vitest/cart.test.js': `
import { describe, expect, test } from 'vitest';
let tries = 0;
describe('Cart', () => {
  test('adds an item', () => {});
  test('sums <a> & "b"', () => expect(41).toBe(42));
  test('rounds', () => { throw new TypeError('-5 is negative'); });
  test('pays', { retry: 1 }, () => { if (tries++ === 0) throw new Error('timed out'); });
  test.skip('prints', () => {});
});`,
  'vitest/vitest.config.js': `
export default { test: { include: ['*.test.js'], reporters: ['@ci-insights/vitest-reporter', ['junit', { outputFile: 'own.xml' }]] } };`,
  'jest/cart.test.js': `
let tries = 0;
jest.retryTimes(1);
describe('Cart', () => {
  test('adds an item', () => {});
  test('sums <a> & "b"', () => expect(41).toBe(42));
  test('rounds', () => { throw new TypeError('-5 is negative'); });
  test('pays', () => { if (tries++ === 0) throw new Error('timed out'); });
  test.skip('prints', () => {});
});`,
  'jest/package.json': '{ "type": "commonjs" }',
  'jest/jest.config.js': `module.exports = { reporters: ['@ci-insights/jest-reporter'] };`,
  'playwright/cart.spec.ts': `
import { expect, test } from '@playwright/test';
test.describe('Cart', () => {
  test('adds an item', () => {});
  test('sums <a> & "b"', () => { expect(41).toBe(42); });
  test('rounds', () => { throw new TypeError('-5 is negative'); });
  test('pays', ({}, { retry }) => { if (retry === 0) throw new Error('timed out'); });
  test.skip('prints', () => {});
});`,
  'playwright/playwright.config.ts': `
export default {
  retries: 1, workers: 1, projects: [{ name: 'api' }],
  reporter: [['@ci-insights/playwright-reporter'], ['json', { outputFile: 'own.json' }]],
};`,
};

interface Found {
  tests: { test_id: string; test_name: string }[];
}
interface Details {
  test_id: string;
  health_status: string;
  last_conclusion: string;
  test_framework: string;
  test_filepath: string;
  test_function_name: string;
}

async function namesIn(repository: string, size: number): Promise<Found['tests']> {
  const path = `/v1/ci/acme/repositories/${repository}/search/tests?test_name=*`;
  return (await service.until<Found>(path, ({ tests }) => tests.length === size)).tests;
}

interface Runner {
  name: 'vitest' | 'jest' | 'playwright';
  program: string[];
  nameOf(test: string): string;
  /** Format in which the runner's own report is pushed; Jest has none. */
  own: [format: string, file: string] | null;
}
const RUNS: Runner[] = [
  {
    name: 'vitest',
    program: ['vitest/vitest.mjs', 'run'],
    nameOf: (title) => `cart.test.js.Cart > ${title}`,
    own: ['junit', 'own.xml'],
  },
  { name: 'jest', program: ['jest/bin/jest.js'], nameOf: (title) => `cart.test.js.Cart > ${title}`, own: null },
  {
    name: 'playwright',
    program: ['@playwright/test/cli.js', 'test'],
    nameOf: (title) => `[api] › cart.spec.ts › Cart › ${title}`,
    own: ['playwright', 'own.json'],
  },
];

describe.skipIf(folder === undefined).each(RUNS)('the reporter of $name', ({ name, program, nameOf, own }) => {
  const cwd = join(folder ?? '', name);
  const [file = '', ...args] = program;
  const start = (env: Record<string, string | undefined>) =>
    run(['node', join(folder ?? '', 'node_modules', file), ...args], { cwd, env: { ...machine(), ...env } });
  beforeAll(() => {
    for (const [path, text] of Object.entries(FILES).filter(([path]) => path.startsWith(`${name}/`))) {
      mkdirSync(dirname(join(folder ?? '', path)), { recursive: true });
      writeFileSync(join(folder ?? '', path), text);
    }
  });

  test('sends every test with its file, its function and its retries, and names what is quarantined', async () => {
    const repository = freshRepository(name);
    const job = {
      ...jobEnvironment(service, { repository }),
      CI_INSIGHTS_URL: service.origin,
      CI_INSIGHTS_TOKEN: service.token,
    };
    await service.quarantine(repository, nameOf('rounds'));
    const ran = await start(job);
    expect([ran.code, ran.printed]).toEqual([
      1,
      expect.stringContaining(`ci-insights: quarantined  ${nameOf('rounds')}`),
    ]);
    expect(ran.printed).toContain('ci-insights: 1 failed test of 2 quarantined.');
    expect(ran.printed).not.toContain(service.token);

    const found = await namesIn(repository, 5);
    const titles = ['adds an item', 'sums <a> & "b"', 'rounds', 'pays', 'prints'];
    expect(found.map(({ test_name }) => test_name).sort()).toEqual(titles.map(nameOf).sort());
    const base = `/v1/ci/acme/repositories/${repository}`;
    const detailsOf = (title: string) => {
      const id = found.find(({ test_name }) => test_name === nameOf(title))?.test_id;
      return service.until<Details>(`${base}/tests/${id}`, ({ last_conclusion }) => last_conclusion !== null);
    };
    const source = name === 'playwright' ? 'cart.spec.ts' : 'cart.test.js';
    expect(await detailsOf('adds an item')).toMatchObject({
      last_conclusion: 'passed',
      test_filepath: source,
      test_framework: name,
      test_function_name: expect.stringContaining('adds an item'),
    });
    expect(await detailsOf('rounds')).toMatchObject({ last_conclusion: 'failed' });
    const pays = await detailsOf('pays');
    expect(pays).toMatchObject({ last_conclusion: 'passed' });
    // Five tests are too few to call it flaky, but that it passed after a failed attempt has arrived.
    expect(await service.get(`${base}/tests/${pays.test_id}/explanation`)).toMatchObject({
      identities: [{ has_enough_runs: false, failures: [{ execution: { status: 'passed' } }] }],
    });
    expect(await detailsOf('prints')).toMatchObject({ last_conclusion: 'skipped' });
    const failed = found.find(({ test_name }) => test_name === nameOf('rounds'))?.test_id;
    const { failures } = await service.get<{ failures: object[] }>(`${base}/tests/${failed}/failures`);
    expect(failures).toMatchObject([{ exception_type: 'TypeError', exception_message: '-5 is negative' }]);

    if (own === null) return;
    const other = freshRepository(name);
    const pushed = await runClient('node', ['push', ...own, '--repo', `acme/${other}`], { cwd, env: job });
    expect([pushed.code, pushed.printed]).toEqual([0, expect.any(String)]);
    expect((await namesIn(other, 5)).map(({ test_name }) => test_name).sort()).toEqual(titles.map(nameOf).sort());
  });

  test('a quarantine that is narrowed counts in its own job, and for none if it is for some failures only', async () => {
    const repository = freshRepository(name);
    const elsewhere = [
      { job_name: 'integration' },
      { pipeline_name: 'Nightly' },
      { failure_ids: [crypto.randomUUID()] },
    ];
    for (const scope of elsewhere) await service.quarantine(repository, nameOf('sums <a> & "b"'), scope);
    await service.quarantine(repository, nameOf('rounds'), { pipeline_name: 'CI', job_name: 'unit' });
    const ran = await start({
      ...jobEnvironment(service, { repository }),
      CI_INSIGHTS_URL: service.origin,
      CI_INSIGHTS_TOKEN: service.token,
    });
    expect(ran.printed.match(/ci-insights: .*/g)).toEqual([
      `ci-insights: quarantined  ${nameOf('rounds')}`,
      'ci-insights: 1 failed test of 2 quarantined.',
    ]);
    expect(ran.code).toBe(1);
  });

  test('without a key, or without the service, the tests run as ever', async () => {
    const without = await start({ CI: 'true' });
    expect([without.code, without.printed]).toEqual([
      1,
      expect.stringContaining('nothing is sent. A token is required'),
    ]);
  });
});

test.skipIf(folder === undefined)('the client, installed from its tarball, runs as a command', async () => {
  const env = { ...machine(), CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token };
  const ran = await run([join(folder ?? '', 'node_modules/.bin/ci-insights'), 'tests', '--repo', 'acme/none'], { env });
  expect([ran.code, ran.stdout]).toEqual([0, 'No test has such a name.\n']);
});

test.skipIf(folder === undefined)(
  'the producer, installed from its tarball, has types, and its program runs on Node',
  async () => {
    const cwd = join(folder ?? '', 'producer');
    mkdirSync(cwd, { recursive: true });
    const program = recipe('### TypeScript', 'ts');
    writeFileSync(join(cwd, 'produce.ts'), program);
    writeFileSync(join(cwd, 'wrong.ts'), `${program}\nawait events.add(1, {});`);
    const check = (file: string) =>
      run(
        [
          process.execPath,
          join(ROOT, 'node_modules/typescript/bin/tsc'),
          ...['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'],
          ...['--types', 'bun', '--typeRoots', join(ROOT, 'node_modules/@types'), file],
        ],
        { cwd, env: machine() },
      );
    expect(await check('produce.ts')).toMatchObject({ code: 0, printed: '' });
    expect((await check('wrong.ts')).printed).toContain('wrong.ts');
    if (!hasRedis) return;
    const redis = await startRedis();
    const queued = await ClientService.start({ REDIS_URL: redis.url });
    try {
      // Plain JavaScript: nothing in it is typed.
      writeFileSync(join(cwd, 'produce.mjs'), program);
      const input = recipe('### Python', 'json');
      const node = join(folder ?? '', 'node_modules', NODE, 'bin/node');
      const ran = await run([node, 'produce.mjs', redis.url], { cwd, env: machine(), input });
      expect(ran).toMatchObject({ code: 0, printed: '' });
      const path = '/v1/ci/acme/repositories/shop/search/tests?test_name=*';
      const { tests } = await queued.until<Found>(path, (found) => found.tests.length === 2);
      expect(tests.map(({ test_name }) => test_name).sort()).toEqual(['load > checkout', 'load > search']);
    } finally {
      await queued.stop();
      await redis.stop();
    }
  },
);
