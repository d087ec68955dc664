/** `split` as the shards of a run use it: with listings of real runners, against a service and without one. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { commandOf, RUNTIMES, type Runtime, runClient } from './support/client.ts';
import { type ClientService, freshRepository, sharedService } from './support/service.ts';

const LISTINGS = resolve(import.meta.dir, '../fixtures/listings');
const listing = (file: string): string => readFileSync(join(LISTINGS, file), 'utf8');
const linesOf = (text: string): string[] => text.split('\n').filter((line) => line !== '');

let service: ClientService;
let folder: string;
beforeAll(async () => {
  service = await sharedService();
  folder = mkdtempSync(join(tmpdir(), 'ci-insights-split-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Asked {
  input?: string;
  runtime?: Runtime;
  env?: Record<string, string | undefined>;
  repository?: string;
}

let runs = 0;
const nextRun = (): string => `run-${++runs}`;

async function split(args: string[], { input = '', runtime = 'node', env, repository }: Asked = {}) {
  const variables = { CI_INSIGHTS_URL: service.origin, CI_INSIGHTS_TOKEN: service.token, ...env };
  const path = `acme/${repository ?? 'never-seen'}`;
  return runClient(runtime, ['split', '--repo', path, ...args], { env: variables, cwd: folder, input });
}

/** What each part of a run prints. */
async function parts(total: number, args: string[], asked: Asked): Promise<string[][]> {
  const run = nextRun();
  const printed: string[][] = [];
  for (let index = 0; index < total; index++) {
    const shard = ['--total', String(total), '--index', String(index), '--run-id', run];
    const { code, stdout, stderr } = await split([...shard, ...args], asked);
    expect([code, stderr]).toEqual([0, expect.stringContaining(`Part ${index} of ${total} has `)]);
    printed.push(linesOf(stdout));
  }
  return printed;
}

/** A repository with the tests of a report on its default branch. */
async function repositoryWith(format: string, file: string): Promise<string> {
  const repository = freshRepository('split');
  const base = `/v1/ci/acme/repositories/${repository}`;
  const query = new URLSearchParams({
    ...{ pipeline_name: 'CI', job_name: 'unit', run_id: '1', commit: 'c1', branch: 'main', default_branch: 'main' },
    started_at: new Date(Date.now() - 3_600_000).toISOString(),
  });
  const sent = await service.fetch(`${base}/${format}?${query}`, {
    method: 'POST',
    headers: { 'content-type': format === 'junit' ? 'application/xml' : 'application/json' },
    body: listing(file),
  });
  const { id } = (await sent.json()) as { id: string };
  await service.until<{ status: string }>(`${base}/uploads/${id}`, ({ status }) => status === 'stored');
  return repository;
}

describe.each([
  ['pytest', 'junit', 'pytest-9.2.xml', 'pytest-9.2.txt', ['--by', 'test', '--containing', '::'], '::', 8],
  [
    'Playwright',
    'playwright',
    'playwright-1.65.json',
    'playwright-1.65.txt',
    ['--by', 'test', '--containing', ' › '],
    ' › ',
    6,
  ],
  ['Go', 'go-test', 'go-1.26.json', 'go-1.26.txt', ['--by', 'class'], '', 2],
  ['Jest', 'junit', 'jest-30.xml', 'jest-30.txt', ['--by', 'file'], '', 3],
])('a listing of %s', (_, format, report, list, args, text, count) => {
  test('is split so that each name, as it was listed, is printed by exactly one part, and the time of each is known', async () => {
    const repository = await repositoryWith(format, report);
    const asked = { input: listing(list), repository };
    const printed = await parts(2, args, asked);
    const names = linesOf(listing(list)).filter((line) => line.includes(text));
    expect(names).toHaveLength(count);
    expect(printed.flat().toSorted()).toEqual(names.toSorted());
    const { stderr } = await split(['--total', '2', '--index', '0', '--run-id', nextRun(), ...args], asked);
    expect(stderr).toContain(`The time of ${count} is known.`);
  });
});

test.each(RUNTIMES)(
  'on %s the names come from a command, whose failure splits nothing, and which sees no key',
  async (runtime) => {
    const args = ['--total', '2', '--index', '0', '--run-id', nextRun()];
    const script = (text: string) => ['--', commandOf(runtime), '-e', text];
    const listed = await split([...args, ...script('console.log("a\\nb\\nkey:" + process.env.CI_INSIGHTS_TOKEN)')], {
      runtime,
    });
    expect([listed.code, listed.stderr]).toEqual([0, expect.stringContaining('of 3')]);
    expect(listed.stdout).not.toContain(service.token);
    const failed = await split([...args, ...script('console.log("a"); process.exit(4)')], { runtime });
    expect([failed.code, failed.stdout, failed.stderr]).toEqual([
      1,
      '',
      expect.stringContaining('ended with exit code 4'),
    ]);
    const missing = await split([...args, '--', './no-such-program'], { runtime });
    expect([missing.code, missing.stdout, missing.stderr]).toEqual([1, '', expect.stringContaining('cannot be run')]);
  },
);

test('paths within the folder are the same list wherever it lies, and are printed as they came', async () => {
  const names = ['a.test.js', 'b.test.js', 'c.test.js'];
  const run = nextRun();
  const absolute = names.map((name) => join(folder, name));
  const one = await split(['--total', '2', '--index', '0', '--run-id', run], { input: absolute.join('\n') });
  const other = await split(['--total', '2', '--index', '1', '--run-id', run], { input: names.join('\r\n') });
  expect(other.stderr).not.toContain('Warning');
  const printed = [...linesOf(one.stdout), ...linesOf(other.stdout).map((name) => join(folder, name))];
  expect(printed.toSorted()).toEqual(absolute);
});

test('a name is printed exactly, and a message holds none of what runners and terminals obey', async () => {
  const input = '::error::x\n\u001b[31mred  \n';
  const { stdout } = await split(['--total', '1', '--index', '0'], { input });
  expect(stdout).toBe(input);
  const { stderr } = await split(['--total', '2', '--index', '0', '--run-id', 'x', '--containing', '\u001b[31m'], {
    input: 'a',
  });
  expect(stderr).not.toContain('\u001b');
});

test('a shard with another list than the others is told so', async () => {
  const run = nextRun();
  await split(['--total', '2', '--index', '0', '--run-id', run], { input: 'a\nb' });
  const { code, stderr } = await split(['--total', '2', '--index', '1', '--run-id', run], { input: 'a\nc' });
  expect([code, stderr]).toEqual([
    0,
    expect.stringContaining('Warning: Shards of this run have asked with different lists'),
  ]);
});

test('the shard and the run come from the CI', async () => {
  const circle = { CIRCLECI: 'true', CIRCLE_JOB: 'unit', CIRCLE_WORKFLOW_ID: nextRun(), CIRCLE_NODE_TOTAL: '3' };
  const printed: string[] = [];
  for (const index of ['0', '1', '2']) {
    const { code, stdout } = await split([], { input: 'a\nb\nc\n', env: { ...circle, CIRCLE_NODE_INDEX: index } });
    expect(code).toBe(0);
    printed.push(...linesOf(stdout));
  }
  expect(printed.toSorted()).toEqual(['a', 'b', 'c']);
});

describe('without an answer', () => {
  const gone = { env: { CI_INSIGHTS_URL: 'http://127.0.0.1:9' }, input: 'a\nb\nc\nd\n' };
  const part = (index: number, ...more: string[]) => [
    ...['--total', '2', '--index', String(index), '--run-id', 'gone', '--timeout', '1', ...more],
  ];

  test('nothing is printed, and the exit code says so', async () => {
    const { code, stdout, stderr } = await split(part(0), gone);
    expect([code, stdout]).toEqual([3, '']);
    expect(stderr).toContain('cannot be reached');
    expect(stderr).toContain('Nothing is split');
  });

  test('--fallback all runs everything', async () => {
    const { code, stdout } = await split(part(0, '--fallback', 'all'), gone);
    expect([code, stdout]).toEqual([0, gone.input]);
  });

  test('--fallback equal gives each part as many names, and warns', async () => {
    const shards = [
      await split(part(0, '--fallback', 'equal'), gone),
      await split(part(1, '--fallback', 'equal'), gone),
    ];
    expect(shards.map(({ code, stdout }) => [code, linesOf(stdout).length])).toEqual([
      [0, 2],
      [0, 2],
    ]);
    expect(shards.flatMap(({ stdout }) => linesOf(stdout)).toSorted()).toEqual(['a', 'b', 'c', 'd']);
    expect(shards[0]?.stderr).toContain('Warning: each part gets an equal number of names');
  });

  test('a job without a key, such as for a fork, gets none either', async () => {
    const forked = { ...gone, env: { CI_INSIGHTS_TOKEN: undefined } };
    expect((await split(part(0), forked)).code).toBe(3);
    expect((await split(part(0, '--fallback', 'all'), forked)).stdout).toBe(gone.input);
  });
});

test.each([
  ['no name', ['--total', '2', '--index', '0', '--run-id', 'x'], '\n \n', 1, 'the list is empty'],
  [
    'no line that counts',
    ['--total', '2', '--index', '0', '--run-id', 'x', '--containing', '::'],
    'a',
    1,
    'no line of the list holds',
  ],
  ['no number of parts', [], 'a', 1, 'pass --total, and --index from 0 on'],
  ['no run', ['--total', '2', '--index', '0'], 'a', 1, 'pass --run-id'],
  ['another kind of names', ['--by', 'suite'], 'a', 2, 'Allowed choices are file, class, test'],
  ['an odd number', ['--total', '0'], 'a', 2, 'It must be a whole number from 1 to 500'],
])('%s is an error that says what to do', async (_, args, input, code, sentence) => {
  const ran = await split(args, { input });
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([code, '', expect.stringContaining(sentence)]);
});

test('a list that is not UTF-8 is refused', async () => {
  const file = join(folder, 'latin1.txt');
  writeFileSync(file, Buffer.from([0x66, 0xfc, 0x72, 0x0a]));
  const ran = await split(['--total', '2', '--index', '0', '--run-id', 'x', '--', 'cat', file]);
  expect([ran.code, ran.stdout, ran.stderr]).toEqual([1, '', expect.stringContaining('not UTF-8')]);
});
