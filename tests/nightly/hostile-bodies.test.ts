/** Bodies that are small as sent: none takes gigabytes, or seconds, beyond what its tests need. */
import { expect, test } from 'bun:test';
import { z } from 'zod';
import { HOSTILE_BODIES, packed } from '../support/hostile-bodies.ts';

const PEAK_MB_MAX = 300;
/** A second, and as much again for a machine that is busy with other tests. */
const CPU_SECONDS_MAX = 2.5;
const CPU_SECONDS_PER_TEST = 1e-4;

const costSchema = z.object({ cpuSeconds: z.number(), peakMb: z.number(), outcome: z.string() });

test.each(HOSTILE_BODIES.map((body) => [body.parser, body.name, body] as const))(
  '%s: %s',
  async (parser, _, { make }) => {
    const body = packed(make());
    expect(body.length).toBeLessThan(1024 * 1024);
    const script = new URL('../support/parse-hostile.ts', import.meta.url).pathname;
    const child = Bun.spawn([process.execPath, script, parser], { stdin: body, stdout: 'pipe', timeout: 60_000 });
    const { cpuSeconds, peakMb, outcome } = costSchema.parse(await new Response(child.stdout).json());
    const tests = Number(/^\d+(?= executions)/.exec(outcome)?.[0] ?? 0);
    expect(peakMb).toBeLessThan(PEAK_MB_MAX);
    expect(cpuSeconds).toBeLessThan(CPU_SECONDS_MAX + tests * CPU_SECONDS_PER_TEST);
  },
);
