/**
 * `npm test` and `npm run test:nightly`: every file of tests, in batches that run beside each other (scripts/test-plan.ts).
 * `npm run test:real`: those that also run on a real ClickHouse server, and a list of what ran there.
 * The report of a batch is printed when it ends. Paths on the command line go to a single `bun test`:
 * `npm test tests/http`. `--record` writes down how long each file took, for the next plan.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Glob } from 'bun';
import { makeFolder } from '../tests/support/folder.ts';
import { makeTemplate } from '../tests/support/template.ts';
import { ON_SERVERS, passedIn, planTests, runBatches, secondsIn } from './test-plan.ts';

const ROOT = resolve(import.meta.dir, '..');
const TIMINGS = join(ROOT, 'tests/timings.json');
const NIGHTLY = 'tests/nightly/';
/** How many more batches run at once than there are cores: they often wait, for processes to start and clients to retry. */
const BATCHES_MORE = 1;

const args = process.argv.slice(2);
const isNightly = args.includes('--nightly');
/** A `TEST_CLICKHOUSE`. */
const servers = args.find((arg) => arg.startsWith('--on='))?.slice('--on='.length);
const isRecording = args.includes('--record');
const paths = args.filter((arg) => !arg.startsWith('--'));
const chosen = servers === undefined ? ['tests/**/*.test.ts'] : (ON_SERVERS[servers] ?? []);
process.exit(paths.length > 0 ? await runHere(paths) : await runAll());

/** The command for some files. bunfig.toml leaves out those of `tests/nightly`. */
function testsOf(files: readonly string[]): string[] {
  return [process.execPath, 'test', ...(isNightly ? ['--path-ignore-patterns', 'none'] : []), ...files];
}

function runHere(files: readonly string[]): Promise<number> {
  return Bun.spawn(testsOf(files), { stdio: ['inherit', 'inherit', 'inherit'] }).exited;
}

/** @returns the exit code: 0 if every test passed */
async function runAll(): Promise<number> {
  const timings: Record<string, number> = await Bun.file(TIMINGS).json();
  const files = chosen.flatMap((pattern) => [...new Glob(pattern).scanSync(ROOT)]);
  const { batches, alone } = planTests(
    files.filter((file) => file.startsWith(NIGHTLY) === isNightly),
    timings,
  );
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-reports-'));
  const template = makeFolder('template');
  await makeTemplate(template);
  const env = { ...process.env, TEST_TEMPLATE: template, ...(servers !== undefined && { TEST_CLICKHOUSE: servers }) };
  const onServers: string[] = [];
  const passed: Record<string, number> = {};
  let reports = 0;
  const failed = new Set<string>();
  const run = async (batch: readonly string[]): Promise<number> => {
    const path = join(folder, String(reports++));
    // A file and not a pipe: a process that outlives its test would hold that open.
    const output = openSync(path, 'w');
    const tests = Bun.spawn(testsOf(batch.map((file) => `./${file}`)), {
      cwd: ROOT,
      env,
      stdout: output,
      stderr: output,
    });
    const status = await tests.exited;
    closeSync(output);
    const report = readFileSync(path, 'utf8');
    Object.assign(timings, secondsIn(report));
    Object.assign(passed, passedIn(report));
    for (const [line] of report.matchAll(/^ClickHouse server .*/gm)) onServers.push(line);
    for (const [line] of report.matchAll(/^\(fail\) .*/gm)) failed.add(line);
    // All of it before the process ends. `Bun.write` would begin at the start of a file.
    await new Promise((done) => process.stderr.write(report, done));
    return status;
  };
  const statuses = [
    await runBatches(batches, availableParallelism() + BATCHES_MORE, run),
    await runBatches(
      alone.map((file) => [file]),
      1,
      run,
    ),
  ];
  for (const made of [folder, template]) rmSync(made, { recursive: true, force: true });
  if (servers !== undefined) {
    const ran = Object.entries(passed).toSorted();
    console.error(`\nOver HTTP on ClickHouse (${servers}), tests that passed:`);
    for (const [file, count] of ran) console.error(`  ${String(count).padStart(4)}  ${file}`);
    console.error(
      `  ${ran.reduce((sum, [, count]) => sum + count, 0)} in ${ran.length} files\n  ${onServers.join('\n  ')}`,
    );
  }
  if (failed.size > 0) console.error(`\nTests that failed; their reports are above:\n  ${[...failed].join('\n  ')}`);
  // There they take other times.
  if (isRecording && servers === undefined) {
    const known = Object.entries(timings).filter(([file]) => files.includes(file));
    await Bun.write(TIMINGS, `${JSON.stringify(Object.fromEntries(known.toSorted()), null, 2)}\n`);
  }
  return Math.max(...statuses);
}
