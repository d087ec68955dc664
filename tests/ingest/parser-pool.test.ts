/** Parsing in separate processes: the same results, and nothing that an upload does there is felt elsewhere. */
import { afterEach, expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { v7 as uuid7 } from 'uuid';
import { BODY_LIMITS } from '../../src/ingest/body.ts';
import { PARSER_BYTES_MAX } from '../../src/ingest/parsing/capacity.ts';
import { parseUpload } from '../../src/ingest/parsing/parse.ts';
import { ParserPool, type ParserPoolOptions } from '../../src/ingest/parsing/pool.ts';
import type { ParseTask } from '../../src/ingest/parsing/task.ts';
import { createLogger } from '../../src/observability/log.ts';
import { parsersEnded } from '../../src/observability/metrics.ts';
import { TEST_NOW } from '../support/clock.ts';
import { junitReport } from '../support/gateway.ts';
import { otlpProtobuf } from '../support/otlp.ts';
import { until } from '../support/patience.ts';
import { processTree } from '../support/process-tree.ts';

const MEBIBYTE = 1024 * 1024;

let pool: ParserPool | undefined;
afterEach(async () => {
  await pool?.close();
  pool = undefined;
});
const open = (options: Partial<ParserPoolOptions> = {}): ParserPool => {
  pool = new ParserPool({ log: createLogger('fatal'), size: 2, memoryBytesMax: PARSER_BYTES_MAX, ...options });
  return pool;
};

const taskOf = (input: ParseTask['input'], isGzip = false): ParseTask => ({
  input,
  isGzip,
  limits: BODY_LIMITS,
  uploadId: uuid7(),
  sender: null,
  repository: { owner: 'acme', name: 'shop' },
  receivedAt: TEST_NOW,
});
const junitTask = (isGzip = false): ParseTask =>
  taskOf({ kind: 'report', format: 'junit', contentType: null, query: { run_id: '1', branch: 'main' } }, isGzip);
const small = (): [ParseTask, Uint8Array] => [junitTask(), Buffer.from(junitReport([{ name: 'a' }, { name: 'b' }]))];
/** Takes about a second. */
const many = (tests = 100_000): [ParseTask, Uint8Array] => [
  junitTask(),
  Buffer.from(`<testsuite>${'<testcase name="t" classname="c"/>'.repeat(tests)}</testsuite>`),
];
/** Large, with nothing in it. */
const blanks = (mebibytes: number): [ParseTask, Uint8Array] => [junitTask(), Buffer.alloc(mebibytes * MEBIBYTE, ' ')];

const parsers = () => processTree(process.pid).filter(({ command }) => command.includes('parsing/process.ts'));
const parserPids = (): number[] => parsers().map(({ pid }) => pid);

test('a parser answers as if it parsed here', async () => {
  const { parse } = open();
  const many = Array.from({ length: 6_000 }, (_, i) => ({ name: `ü ${i}`, inside: i % 9 === 0 ? '<failure/>' : '' }));
  for (const [task, body] of [
    small(),
    [junitTask(true), gzipSync(junitReport(many))],
    [taskOf({ kind: 'otlp', encoding: 'protobuf' }), otlpProtobuf({ spans: [{ name: 'a' }, { name: '' }] })],
    [junitTask(), new Uint8Array()],
    [junitTask(true), Buffer.from('not gzip')],
  ] as [ParseTask, Uint8Array][])
    expect(await parse(task, body)).toEqual(await parseUpload(task, body));
});

test('parsing takes no time from this thread, and others are read meanwhile', async () => {
  const { parse } = open();
  await Promise.all([parse(...small()), parse(...small())]);
  const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `test ${i}` }));
  const large = [junitTask(true), gzipSync(junitReport(many))] as const;
  const cpuSeconds = async (work: () => Promise<unknown>): Promise<number> => {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000_000;
  };
  const here = await cpuSeconds(() => parseUpload(...large));
  const order: string[] = [];
  const elsewhere = await cpuSeconds(() =>
    Promise.all([parse(...large).then(() => order.push('large')), parse(...small()).then(() => order.push('small'))]),
  );
  expect(order).toEqual(['small', 'large']);
  expect(elsewhere / here).toBeLessThan(0.4);
});

test.each([
  ['memory', { memoryBytesMax: 150 * MEBIBYTE }, 'takes more than 150 MiB of memory to read'],
  ['processor time', { cpuSecondsMax: 0.5 }, 'takes longer than 0.5 s to read'],
])(
  'an upload that takes too much %s is refused with a sentence, and the next one is read',
  async (what, limits, sentence) => {
    const { parse } = open({ ...limits, size: 1 });
    const refused = await parse(...(what === 'memory' ? blanks(120) : many()));
    expect(refused).toMatchObject({
      outcome: 'refused',
      why: 'too large',
      sentence: expect.stringContaining(sentence),
    });
    expect(await parse(...small())).toMatchObject({ outcome: 'parsed', executions: 2 });
  },
);

test('an upload whose parser gets no processor time is told to come again, and the next one is read', async () => {
  const { parse } = open({ secondsMax: 2, size: 1 });
  await parse(...small());
  for (const pid of parserPids()) process.kill(pid, 'SIGSTOP');
  expect(await parse(...small())).toEqual({ outcome: 'interrupted' });
  expect(await parse(...small())).toMatchObject({ outcome: 'parsed', executions: 2 });
});

test('a parser that is killed is replaced, and its upload is read by the next one', async () => {
  const { parse } = open({ size: 1 });
  await parse(...small());
  const [before] = parserPids();
  const slow = parse(...many());
  const waiting = parse(...small());
  await Bun.sleep(100);
  process.kill(before ?? 0, 'SIGKILL');
  expect(await slow).toMatchObject({ outcome: 'parsed', executions: 100_000 });
  expect(await waiting).toMatchObject({ outcome: 'parsed', executions: 2 });
  expect(parserPids()).not.toContain(before);
});

const dying = fileURLToPath(new URL('../support/dying-parser.ts', import.meta.url));

test('an upload whose parsers are killed is told to come again, however often it does, and others are read', async () => {
  const killed = async () =>
    (await parsersEnded.get()).values.find(({ labels }) => labels.reason === 'killed')?.value ?? 0;
  const before = await killed();
  const { parse } = open({ size: 1, script: dying });
  for (let i = 0; i < 4; i++) {
    expect(await parse(junitTask(), Buffer.from('SIGKILL'))).toEqual({ outcome: 'interrupted' });
    expect(await parse(...small())).toMatchObject({ outcome: 'parsed' });
  }
  // Each time, another parser tried it as well.
  expect((await killed()) - before).toBe(8);
});

if (process.platform !== 'linux')
  console.error('skipped: which process the kernel ends first, because this is not Linux');
test.skipIf(process.platform !== 'linux')('the kernel ends a parser before anything else', async () => {
  const { parse } = open({ size: 1 });
  await parse(...small());
  expect(parserPids().map((pid) => readFileSync(`/proc/${pid}/oom_score_adj`, 'utf8'))).toEqual(['1000\n']);
});

test('an upload at which every parser fails is refused, and does not go round for ever', async () => {
  const { parse } = open({ size: 1, script: dying });
  expect(await parse(junitTask(), Buffer.from('SIGSEGV'))).toMatchObject({
    outcome: 'refused',
    why: 'invalid',
    sentence: expect.stringContaining('ended unexpectedly'),
  });
  expect(await parse(...small())).toMatchObject({ outcome: 'parsed' });
});

test('while no parser can start, every upload is told to come again, however often it does', async () => {
  const { parse } = open({ size: 1, script: `${dying}.missing` });
  for (let i = 0; i < 3; i++) expect(await parse(...small())).toEqual({ outcome: 'interrupted' });
});

test("a parser that was killed while it waited is no upload's fault", async () => {
  const { parse } = open({ size: 1 });
  for (let i = 0; i < 3; i++) {
    expect(await parse(...small())).toMatchObject({ outcome: 'parsed' });
    for (const pid of parserPids()) process.kill(pid, 'SIGKILL');
  }
});

test('memory that a parser took for an upload is given back', async () => {
  const { parse } = open({ size: 1 });
  // No report at all: its parser says so at once, and has taken the memory all the same.
  await parse(junitTask(), Buffer.alloc(120 * MEBIBYTE, 'x'));
  await parse(...small());
  const [parser] = parsers();
  expect(parser?.residentBytes).toBeGreaterThan(0);
  expect(parser?.residentBytes).toBeLessThan(200 * MEBIBYTE);
});

test('owners take turns', async () => {
  const { parse } = open({ size: 1 });
  const done: string[] = [];
  const send = async (owner: string) => {
    const [task, body] = small();
    await parse({ ...task, repository: { owner, name: 'shop' } }, body);
    done.push(owner);
  };
  await Promise.all([...Array.from({ length: 10 }, () => send('greedy')), send('modest')]);
  expect(done.indexOf('modest')).toBeLessThanOrEqual(2);
});

/** Resolves once a parser has begun to read, and reads no further. */
async function stopped(): Promise<number> {
  const [pid = 0] = await until(parserPids, (pids) => pids.length > 0, 5);
  process.kill(pid, 'SIGSTOP');
  return pid;
}

test('a small upload is read while large ones occupy every parser, and neither track takes more than its share', async () => {
  const { parse } = open({ size: 1 });
  const large = [parse(...blanks(2)), parse(...blanks(2))];
  const pid = await stopped();
  expect(await parse(...small())).toMatchObject({ outcome: 'parsed', executions: 2 });
  expect(parserPids().length).toBe(2);
  process.kill(pid, 'SIGCONT');
  const here = await parseUpload(...blanks(2));
  for (const one of large) expect(await one).toEqual(here);
  expect(await parse(...small())).toMatchObject({ outcome: 'parsed' });
  // The pool ends the extra parser without waiting for it.
  await until(parserPids, (pids) => pids.length === 1);
});

test('what says that it is small and is not is read as what it is', async () => {
  const { parse } = open({ size: 1 });
  const [, body] = many(40_000);
  // Two members of gzip: the last one states only its own length.
  const two = Buffer.concat([gzipSync(body), gzipSync('')]);
  expect(await parse(junitTask(true), two)).toMatchObject({ outcome: 'parsed', executions: 40_000 });
});

test('no parser stays when the pool is closed', async () => {
  await open().parse(...small());
  expect(parserPids()).not.toEqual([]);
  await pool?.close();
  expect(parserPids()).toEqual([]);
});
