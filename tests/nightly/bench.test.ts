/** `bun run bench` runs to its end, and measures each figure that docs/performance.md has. */
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { z } from 'zod';
import { ROOT } from '../support/service-process.ts';

const named = z.object({ name: z.string() });
/** Names in the first column of tables. */
const ROW = /^\| `(?<name>[a-z0-9_.]+)`/gm;

test('a quick run measures every figure of the page', async () => {
  const bench = Bun.spawn([process.execPath, join(ROOT, 'tests/bench/main.ts'), '--quick', '--json'], {
    stdout: 'pipe',
    stderr: 'pipe',
  });
  const [lines, told] = await Promise.all([new Response(bench.stdout).text(), new Response(bench.stderr).text()]);
  expect(await bench.exited, told).toBe(0);
  const names = lines
    .trim()
    .split('\n')
    .map((line) => named.parse(JSON.parse(line)).name);
  const page = await Bun.file(join(ROOT, 'docs/performance.md')).text();
  const [figures = ''] = page.split('## What is measured');
  const shown = [...figures.matchAll(ROW)].map(({ groups }) => groups?.name ?? '');
  expect(shown.length).toBeGreaterThan(40);
  const isMeasured = (one: string): boolean => names.some((name) => name === one || name.startsWith(`${one}.`));
  expect(shown.filter((one) => !isMeasured(one))).toEqual([]);
});
