/** Bodies that are small as sent: none takes gigabytes, or seconds, beyond what its tests need. */
import { beforeAll, expect, test } from 'bun:test';
import { z } from 'zod';
import { FORMATS } from '../../src/formats/formats.ts';
import { memorySettings } from '../../src/runtime.ts';
import { HOSTILE_BODIES, packed } from '../support/hostile-bodies.ts';
import { packedReport } from '../support/packed-report.ts';

const BEYOND = { cpuSeconds: 1, peakMb: 300 };
/** A large body may take its own unpacked size and 250 MB: how much garbage a parse leaves changes from run to run. */
const peakMbOf = (unpackedBytes: number): number => Math.max(BEYOND.peakMb, unpackedBytes / 1024 ** 2 + 250);
/** Cost of an ordinary test of the cheapest format, measured on a machine with nothing else to do. */
const CPU_SECONDS_PER_TEST = 1e-5;
/** So many ordinary tests of JUnit take the seconds of {@link BEYOND} on that machine; on a slower one, more is allowed. */
const ORDINARY_TESTS = 60_000;
/** Other programs make the same work take up to 1.6 times as much: the best of so many counts. */
const TRIES = 4;

const costSchema = z.object({ cpuSeconds: z.number(), peakMb: z.number(), outcome: z.string() });

/** In a process that collects garbage as the parsers of the service do: on a large machine, others leave far more of it. */
async function costOf(parser: string, body: Uint8Array): Promise<z.infer<typeof costSchema>> {
  const script = new URL('../support/parse-hostile.ts', import.meta.url).pathname;
  const env = { ...process.env, ...memorySettings('api') };
  const child = Bun.spawn([process.execPath, script, parser], { env, stdin: body, stdout: 'pipe', timeout: 600_000 });
  return costSchema.parse(await new Response(child.stdout).json());
}

const ordinary = packedReport(ORDINARY_TESTS, 50);
/** How much slower this machine is, as busy as it is now. */
const measureSlowness = async (): Promise<number> =>
  Math.max(1, (await costOf('junit', ordinary)).cpuSeconds / BEYOND.cpuSeconds);

let slowness = 1;
beforeAll(async () => {
  slowness = await measureSlowness();
});

test.each(HOSTILE_BODIES.map((body) => [body.parser, body.name, body] as const))(
  '%s: %s',
  async (parser, _, { make, tests: read }) => {
    const unpacked = make();
    const body = packed(unpacked);
    const peakMbMax = peakMbOf(unpacked.length);
    expect(body.length).toBeLessThan(1024 * 1024);
    const beyond = { cpuSeconds: Number.POSITIVE_INFINITY, peakMb: Number.POSITIVE_INFINITY };
    const isTooMuch = (): boolean => beyond.cpuSeconds > BEYOND.cpuSeconds || beyond.peakMb > peakMbMax;
    for (let tries = 0; tries < TRIES && isTooMuch(); tries++) {
      if (tries > 0) slowness = await measureSlowness();
      const { cpuSeconds, peakMb, outcome } = await costOf(parser, body);
      const tests = read ?? Number(/^\d+(?= executions)/.exec(outcome)?.[0] ?? 0);
      beyond.cpuSeconds = Math.min(beyond.cpuSeconds, cpuSeconds / slowness - tests * CPU_SECONDS_PER_TEST);
      beyond.peakMb = Math.min(beyond.peakMb, peakMb);
    }
    expect(beyond.cpuSeconds).toBeLessThanOrEqual(BEYOND.cpuSeconds);
    expect(beyond.peakMb).toBeLessThanOrEqual(peakMbMax);
  },
);

test('every parser has such a body', () => {
  expect([...new Set(HOSTILE_BODIES.map(({ parser }) => parser))].sort()).toEqual(
    ['protobuf', 'json', ...FORMATS.map(({ name }) => name)].sort(),
  );
});
