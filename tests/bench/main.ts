/**
 * `bun run bench`: docs/performance.md has its options and says what it measures. Data come from a seed.
 */
import { parseArgs } from 'node:util';
import type { DataOptions } from './data.ts';
import { EVENTS } from './events.ts';
import { closeOnSignals, filledWith, inFolder, noteFilled } from './folder.ts';
import { measureImports } from './imports.ts';
import { Machine, narrator } from './machine.ts';
import { type Figure, growthTableOf, linesOf, readsTableOf, tableOf } from './report.ts';
import { measureRoles } from './roles.ts';
import { rolesTablesOf } from './roles-figures.ts';
import { compareRows, fillRows, rowsTableOf } from './rows.ts';
import { fillService, type RunOptions, runService } from './run.ts';

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
    seed: { type: 'string', default: '1' },
    executions: { type: 'string' },
    tests: { type: 'string' },
    repositories: { type: 'string' },
    growth: { type: 'boolean', default: false },
    reads: { type: 'boolean', default: false },
    imports: { type: 'boolean', default: false },
    rows: { type: 'string' },
    roles: { type: 'boolean', default: false },
    seconds: { type: 'string', default: '1800' },
    rate: { type: 'string', default: '6000' },
    folder: { type: 'string' },
    fill: { type: 'boolean', default: false },
  },
});
if (values.folder !== undefined && values.growth) throw new Error('--folder takes the data of one run');
if (values.fill && values.folder === undefined) throw new Error('--fill needs --folder');

/** From each host. */
const IMPORTED = 300_000;
const GROWTH = [1_000_000, 10_000_000];
/** More are stored without the queue, and judged by `rebuild`, which takes a third of the time. */
const FILLED_BY_QUEUE_MAX = 20_000_000;
const TESTS_EACH = 100;
const RUNS_EACH = 3;

/** Options that all runs have in common. */
const { quick } = values;
const common = {
  pace: quick ? { warmSeconds: 0.2, seconds: 0.8 } : { warmSeconds: 1, seconds: 6 },
  judgedPace: quick ? { warmSeconds: 0.1, seconds: 0.5 } : { warmSeconds: 1, seconds: 6 },
  hasReadsOnly: values.reads,
  events: quick ? EVENTS / 10 : EVENTS,
  watchSeconds: quick ? 8 : 60,
};

/** @param executions undefined: as many as usual */
function optionsOf(executions: number | undefined): RunOptions {
  const source = { seed: Number(values.seed), now: Date.now(), days: 89 };
  if (values.repositories !== undefined) {
    // Many small repositories: each of their runs has every test once.
    const repositories = Number(values.repositories);
    const all = executions ?? repositories * TESTS_EACH * RUNS_EACH;
    return {
      ...common,
      source: { ...source, executions: all, tests: TESTS_EACH, repositories, chunk: TESTS_EACH, isEachTest: true },
      timed: timedOf(all),
      isFilled: false,
      isFilledByQueue: true,
      hasFloors: false,
      hasMaintenance: true,
    };
  }
  const all = executions ?? (quick ? 120_000 : 10_000_000);
  const tests = Number(values.tests ?? (quick ? 4_000 : 20_000));
  const isLarge = tests > 100_000;
  return {
    ...common,
    // A million tests are those of one repository.
    source: {
      ...source,
      executions: all,
      tests,
      repositories: isLarge ? 1 : 5,
      chunk: 1_000,
      isEachTest: false,
      // The first of a million would have seven million of a hundred million executions.
      skew: isLarge ? 0.5 : 1,
    },
    timed: timedOf(all),
    isFilled: false,
    isFilledByQueue: all <= FILLED_BY_QUEUE_MAX,
    hasFloors: !values.growth && !values.reads,
    hasMaintenance: values.growth,
  };
}

/** The same of a folder that is filled already. PostgreSQL alone would have to be filled as well. */
const ofFilled = (options: RunOptions, source: DataOptions): RunOptions => ({
  ...options,
  source,
  timed: timedOf(source.executions),
  isFilled: true,
  hasFloors: false,
  hasMaintenance: !values.reads,
});

const timedOf = (executions: number): number => Math.min(1_000_000, Math.ceil(executions / 3));

const say = narrator();
// That of rows has two.
const filled = values.rows === undefined ? filledWith(values.folder) : undefined;
if (values.fill && filled) throw new Error('the folder is filled already');

/** Each run has its own folder, or the one that is given. */
async function run(options: RunOptions): Promise<Figure[]> {
  const { seed, executions, tests, repositories } = options.source;
  const during = new Machine();
  const measured: Figure[] = [];
  say(`seed ${seed}: ${executions} executions of ${tests} tests in ${repositories} repositories`);
  try {
    const figures = await inFolder(values.folder, (folder) =>
      values.fill ? fillService(folder, options, say) : runService(folder, options, say, measured),
    );
    if (values.fill && values.folder !== undefined) noteFilled(values.folder, options.source);
    return values.reads ? figures : [...during.figures(), ...figures];
  } catch (error) {
    process.stdout.write(`${linesOf(measured)}\n`);
    throw error;
  } finally {
    say('done');
  }
}

closeOnSignals();
const sizes = values.executions?.split(',').map(Number) ?? [];
if (values.imports) {
  const figures = await inFolder(undefined, (folder) => measureImports(folder, sizes[0] ?? IMPORTED, say));
  if (!values.json) process.stdout.write(`${tableOf(figures)}\n`);
  process.stdout.write(`${linesOf(figures)}\n`);
} else if (values.rows !== undefined) {
  const { source } = optionsOf(sizes[0]);
  const figures = await inFolder(values.folder, async (folder) => {
    await fillRows(folder, source, Number(values.rows), say);
    return values.fill ? [] : compareRows(folder, say);
  });
  if (!values.json) process.stdout.write(`${rowsTableOf(figures)}\n`);
  process.stdout.write(`${linesOf(figures)}\n`);
} else if (values.roles) {
  const load = {
    seconds: Number(values.seconds),
    rate: Number(values.rate),
    repositories: Number(values.repositories ?? 300),
  };
  const figures = await inFolder(undefined, (folder) => measureRoles(folder, load, say));
  if (!values.json) process.stdout.write(`${Object.values(rolesTablesOf(figures)).join('\n\n')}\n`);
  process.stdout.write(`${linesOf(figures)}\n`);
} else if (values.growth) {
  const runs = new Map<number, Figure[]>();
  for (const size of sizes.length > 0 ? sizes : GROWTH) {
    const figures = await run(optionsOf(size));
    runs.set(size, figures);
    process.stdout.write(`${JSON.stringify({ executions: size })}\n${linesOf(figures)}\n`);
  }
  if (!values.json) process.stdout.write(`${growthTableOf(runs)}\n`);
} else {
  const options = optionsOf(sizes[0]);
  const figures = await run(filled ? ofFilled(options, filled) : options);
  if (!values.json) process.stdout.write(`${values.reads ? readsTableOf(figures) : tableOf(figures)}\n`);
  process.stdout.write(`${linesOf(figures)}\n`);
}
