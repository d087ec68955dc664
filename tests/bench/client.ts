/**
 * How long the client for CI jobs takes from its start to its exit, besides the network: the bundled file on Node and on
 * Bun, with a service beside it that answers at once. The cases alternate, because the speed of a shared machine changes.
 *
 * `bun tests/bench/client.ts [runs]`
 */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleClient } from '../../src/download/bundle.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { quantile } from './quantile.ts';

const RUNTIMES = { Node: 'node', Bun: process.execPath };
const RUN = ['--repo', 'acme/shop', '--pipeline', 'CI', '--job', 'unit', '--run-id', '1'];

const [runs = 20] = process.argv.slice(2).map(Number);
const folder = mkdtempSync(join(tmpdir(), 'ci-insights-client-'));
const file = join(folder, 'ci-insights.mjs');
writeFileSync(file, await (await bundleClient()).bytes.bytes());
writeFileSync(join(folder, 'unit.xml'), junit.example.text);
writeFileSync(
  join(folder, 'failed.xml'),
  '<testsuite name="cart"><testcase classname="Cart" name="adds"><failure message="expected 1"/></testcase></testsuite>',
);
const CASES: Record<string, { args: string[]; code: number }> = {
  'the runtime alone': { args: ['-e', '0'], code: 0 },
  '`--version`': { args: [file, '--version'], code: 0 },
  '`gate` without a report': { args: [file, 'gate', 'junit', 'none', ...RUN], code: 1 },
  '`push` of a report': { args: [file, 'push', 'junit', 'unit.xml', ...RUN], code: 0 },
  '`gate` of a failed test': { args: [file, 'gate', 'junit', 'failed.xml', ...RUN, '--commit', '1f3a9c2'], code: 1 },
};

const stored = { id: '1', status: 'stored', executions: 1, accepted: 1 };
const answers: Record<string, object> = { quarantines: { quarantined_tests: [] }, failures: { failures: [] } };
const service = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: ({ url }) => {
    const answer = answers[new URL(url).pathname.split('/').at(-1) ?? ''];
    return answer ? Response.json(answer) : Response.json(stored, { status: 202 });
  },
});
const env = { PATH: process.env.PATH, CI_INSIGHTS_URL: service.url.origin, CI_INSIGHTS_TOKEN: 'cii_bench' };

/** Milliseconds on the clock, and of processor time. */
async function time(command: readonly string[], code: number): Promise<{ wall: number; cpu: number }> {
  const startedAt = performance.now();
  const child = Bun.spawn([...command], { cwd: folder, env, stdio: ['ignore', 'ignore', 'ignore'] });
  const ended = await child.exited;
  const wall = performance.now() - startedAt;
  if (ended !== code) throw new Error(`${command.join(' ')} ended with ${ended}`);
  return { wall, cpu: Number(child.resourceUsage()?.cpuTime.total ?? 0) / 1_000 };
}

const times = new Map<string, { wall: number; cpu: number }[]>();
for (let run = 0; run < runs; run++)
  for (const [runtime, program] of Object.entries(RUNTIMES))
    for (const [name, { args, code }] of Object.entries(CASES)) {
      const key = `${runtime} | ${name}`;
      times.set(key, [...(times.get(key) ?? []), await time([program, ...args], code)]);
    }

console.log('| on | what | median | shortest | processor time |\n|---|---|---|---|---|');
for (const [key, measured] of times) {
  const walls = measured.map(({ wall }) => wall);
  const cpu = quantile(
    measured.map((one) => one.cpu),
    0.5,
  );
  console.log(
    `| ${key} | ${quantile(walls, 0.5).toFixed(0)} ms | ${Math.min(...walls).toFixed(0)} ms | ${cpu.toFixed(0)} ms |`,
  );
}
await service.stop(true);
rmSync(folder, { recursive: true, force: true });
