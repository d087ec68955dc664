/** Feeds a target mutations of its samples, and fails at the first that is not dealt with as it should be. */
import pTimeout from 'p-timeout';
import { z } from 'zod';
import { cutText } from '../../src/domain/text.ts';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { HttpProblem } from '../../src/http/problems.ts';
import { mutated } from './mutations.ts';
import { randomFrom } from './random.ts';

export interface Target {
  name: string;
  cases: number;
  /** All of them are taken as they are, if `takesSamples`. */
  samples: readonly Buffer[];
  takesSamples: boolean;
  /** Reads a body. Throws only what is answered with a sentence. */
  read(body: Buffer): unknown;
  /** Throws if what was read comes to no proper end, such as a job that can neither be stored nor buried. */
  check(read: unknown): void;
}

const CPU_MS_MAX = 100;
const TRIES_MAX = 8;
/** Waits count as well. A busy machine adds to them, so it is long. */
export const WALL_MS_MAX = 2_000;
const WAITING_TRIES_MAX = 2;
/** One that never ends. */
const ENDLESS_MS = 10_000;
/** Caches, and what the garbage collector leaves. */
const GROWTH_BYTES_MAX = 8 * 1024 * 1024;
const GROWTH_BYTES_PER_CASE = 1_024;

/** Whether the sender gets an answer with a sentence. */
const isSentence = (error: unknown): boolean =>
  error instanceof InvalidUpload ||
  error instanceof UploadTooLarge ||
  error instanceof z.ZodError ||
  (error instanceof HttpProblem && error.status === 422);

const settledHeap = (): number => {
  Bun.gc(true);
  return process.memoryUsage().heapUsed;
};

/** @param endlessMs after which a case counts as one that never ends */
export async function fuzz(
  target: Target,
  seed: number,
  { cases = target.cases, endlessMs = ENDLESS_MS }: { cases?: number; endlessMs?: number } = {},
): Promise<void> {
  const { name, samples } = target;
  const random = randomFrom(seed);
  // A fault that looks like a refusal shows in what must not be refused.
  if (target.takesSamples) for (const sample of samples) target.check(await target.read(sample));
  let heapBefore = 0;
  for (let i = 0; i < cases; i++) {
    // By then, caches are filled.
    if (i === Math.floor(cases / 4)) heapBefore = settledHeap();
    const body = mutated(samples[i % samples.length] as Buffer, random, samples);
    const problem = await problemWith(target, body, endlessMs);
    if (problem) {
      const { what, cause } = problem;
      throw new Error(`${name} ${what}: ${cutText(body.toString('base64'), 8_000)}`, { cause });
    }
  }
  const growth = settledHeap() - heapBefore;
  if (growth > GROWTH_BYTES_MAX + cases * GROWTH_BYTES_PER_CASE)
    throw new Error(`${name} keeps ${growth} bytes after ${cases} cases`);
}

interface Problem {
  what: string;
  cause?: unknown;
}

async function problemWith(target: Target, body: Buffer, endlessMs: number): Promise<Problem | undefined> {
  let cpuMs = Number.POSITIVE_INFINITY;
  let wallMs = Number.POSITIVE_INFINITY;
  // Something else, such as garbage collection, may have run meanwhile.
  const isWorthAnother = (tries: number): boolean =>
    cpuMs > CPU_MS_MAX ? tries < TRIES_MAX : wallMs > WALL_MS_MAX && tries < WAITING_TRIES_MAX;
  for (let tries = 0; isWorthAnother(tries); tries++) {
    const cpuBefore = process.cpuUsage();
    const startedAt = performance.now();
    const problem = await once(target, body, endlessMs);
    if (problem) return problem;
    const { user, system } = process.cpuUsage(cpuBefore);
    cpuMs = Math.min(cpuMs, (user + system) / 1_000);
    wallMs = Math.min(wallMs, performance.now() - startedAt);
  }
  if (cpuMs > CPU_MS_MAX) return { what: `computes ${cpuMs} ms for this` };
  if (wallMs > WALL_MS_MAX) return { what: `takes ${wallMs} ms for this` };
  return undefined;
}

async function once({ read, check }: Target, body: Buffer, endlessMs: number): Promise<Problem | undefined> {
  let found: unknown;
  try {
    const reading = read(body);
    found =
      reading instanceof Promise ? await pTimeout(reading, { milliseconds: endlessMs, message: ENDLESS }) : reading;
  } catch (cause) {
    if (cause instanceof Error && cause.message === ENDLESS) return { what: 'does not end with this' };
    return isSentence(cause) ? undefined : { what: 'does not answer this with a sentence', cause };
  }
  try {
    check(found);
    return undefined;
  } catch (cause) {
    return { what: `makes of this what comes to no end (${String(cause)})`, cause };
  }
}

const ENDLESS = 'endless';
