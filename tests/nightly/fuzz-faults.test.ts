/** The fuzzing finds faults: each kind of fault is put behind some parsers, at one body in 25, and must be found. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { FORMATS } from '../../src/formats/formats.ts';
import { fuzz, type Target, WALL_MS_MAX } from '../support/fuzz.ts';
import { fuzzTargets, STEPS } from '../support/fuzz-targets.ts';

const seed = fc.readConfigureGlobal().seed ?? 1;
/** All of them are read to find out what is kept. */
const FEW = { cases: 200, endlessMs: 5_000 };
/** It ends with the first fault. Few of the changed bodies of some formats have executions. */
const UNTIL_FOUND = { cases: 10_000, endlessMs: 5_000 };
/** Unchanged samples are for the whole run: there they are taken first. */
const unchanged = (target: Target): Target => ({ ...target, takesSamples: false });
/** Depends on the contents of a body: one that is tried again fails again. */
const isFaulty = (body: Buffer): boolean => Bun.hash.crc32(body) % 25 === 0;
const HANG_MS = 200;
const LEAK_BYTES = 128 * 1024;

const FILLER = Buffer.alloc(64 * 1024);
const computing = (): void => {
  const spent = (): number => process.cpuUsage().user + process.cpuUsage().system;
  for (const end = spent() + HANG_MS * 1_000; spent() < end; ) Bun.hash.crc32(FILLER);
};
const kept: Buffer[] = [];

const KEEPS = 'keeps 128 KiB of each body';
/** Faults before the parser reads a faulty body, and what they must be found as. */
const READING: Readonly<Record<string, [fault: (body: Buffer) => unknown, found: RegExp]>> = {
  'throws an error without a sentence': [
    (body) => {
      if (isFaulty(body)) throw new TypeError('undefined is not an object');
    },
    /does not answer this with a sentence/,
  ],
  'computes for 200 ms': [(body) => isFaulty(body) && computing(), /computes \d+/],
  'waits too long': [async (body) => isFaulty(body) && Bun.sleep(2 * WALL_MS_MAX), /takes \d+/],
  'never ends': [async (body) => isFaulty(body) && new Promise(() => {}), /does not end with this/],
  [KEEPS]: [() => kept.push(Buffer.alloc(LEAK_BYTES, 1)), /keeps \d+ bytes/],
};

const before = (target: Target, fault: (body: Buffer) => unknown): Target => ({
  ...unchanged(target),
  read: (body) => {
    const faulted = fault(body);
    return faulted instanceof Promise ? faulted.then(() => target.read(body)) : target.read(body);
  },
});

/** One of XML, one that unpacks in other threads, and one of binary messages: the harness is the same for all. */
const READ_FAULTILY = ['junit', 'allure', 'OTLP in protobuf'];

describe('a parser', async () => {
  for (const target of (await fuzzTargets()).filter(({ name }) => READ_FAULTILY.includes(name)))
    for (const [name, [fault, found]] of Object.entries(READING))
      test(`${target.name}: that ${name} is found`, async () => {
        const options = name === KEEPS ? FEW : UNTIL_FOUND;
        await expect(fuzz(before(target, fault), seed, options)).rejects.toThrow(found);
        kept.length = 0;
      });

  test('without a fault passes, with as few cases', async () => {
    for (const target of await fuzzTargets()) await fuzz(target, seed, { cases: 200 });
  });
});

const UPLOADS = ['OTLP in protobuf', 'OTLP in JSON', ...FORMATS.map(({ name }) => name)];

describe.each(UPLOADS)('between %s and the stores,', (name) => {
  const found = async (steps: Partial<typeof STEPS>, what: RegExp) => {
    const target = (await fuzzTargets({ ...STEPS, ...steps })).find((one) => one.name === name) as Target;
    await expect(fuzz(unchanged(target), seed, UNTIL_FOUND)).rejects.toThrow(what);
  };
  test('a job that is not made is found', () =>
    found({ chunksOf: (...input) => STEPS.chunksOf(...input).slice(1) }, /\d executions are queued/));
  test('a job that the worker does not read is found', () =>
    found(
      { chunksOf: (...input) => STEPS.chunksOf(...input).map((job) => ({ ...job, received_at: 'soon' })) },
      /the worker refuses the job/,
    ));
  test('an execution that is neither stored nor refused is found', () =>
    found(
      {
        prepareChunk: (...input) => {
          const chunk = STEPS.prepareChunk(...input);
          return { ...chunk, executions: chunk.executions.slice(1) };
        },
      },
      /are stored/,
    ));
  test('a line that no store takes is found', () =>
    found({ valuesOf: (...input) => ({ ...STEPS.valuesOf(...input), branch: 'half \ud800' }) }, /no store takes it/));
});

describe.each(['pr-events jobs', 'webhooks'])('of %s', (name) => {
  test('an event that is neither kept nor refused is found', async () => {
    const targets = await fuzzTargets({ ...STEPS, readEvent: () => ({ reason: '' }) });
    const target = targets.find((one) => one.name === name) as Target;
    await expect(fuzz(target, seed, UNTIL_FOUND)).rejects.toThrow('neither kept nor refused');
  });
});
