/** Whether the plan for the memory of a process holds. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { memorySettings } from '../../src/runtime.ts';
import { ROOT } from '../support/service-process.ts';

const isLinux = process.platform === 'linux';
if (!isLinux) console.error('skipped: the memory of a process is read from /proc, which only Linux has');

const MEBIBYTE = 1024 ** 2;

/** How much memory a process with this environment has used at most, with its garbage. */
async function most(environment: Record<string, string>): Promise<number> {
  const child = Bun.spawn([process.execPath, join(ROOT, 'tests/support/garbage.ts')], {
    env: environment,
    stdout: 'pipe',
  });
  return Number(await new Response(child.stdout).text());
}

test.skipIf(!isLinux)('a process that plans for less memory leaves less garbage', async () => {
  const [planned, unplanned]: [number[], number[]] = [[], []];
  // When the runtime looks for garbage depends on its threads as well, so one pair says little.
  for (let pair = 0; pair < 5; pair++) {
    planned.push(await most(memorySettings('api', {})));
    unplanned.push(await most({ BUN_JSC_forceRAMSize: String(64 * 1_024 * MEBIBYTE) }));
  }
  const median = (all: readonly number[]): number => all.toSorted((one, other) => one - other)[2] ?? 0;
  expect(median(planned)).toBeLessThan(0.97 * median(unplanned));
});
