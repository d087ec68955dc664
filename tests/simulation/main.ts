/**
 * `bun run simulate [--seeds 1] [--world <part of a name>] [--rules <part of a name>] [--curve] [--workers 2]`: tries the
 * rules of judgement, and the usual rules of the field, on repositories whose truth is known; with `--curve`, the rules
 * with other levels.
 */
import { parseArgs } from 'node:util';
import { describeCalibration, hasClaims } from './calibration.ts';
import { describeScores } from './report.ts';
import { addScores, type Scores } from './score.ts';
import { type Trial, WORLD_NAMES } from './trials.ts';
import { CHANGING, KINDS, LARGE, MASS } from './worlds.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1' },
    world: { type: 'string', default: '' },
    rules: { type: 'string', default: '' },
    workers: { type: 'string', default: '2' },
    curve: { type: 'boolean', default: false },
  },
});
const begun = performance.now();
const seeds = values.seeds.split(',').map(Number);
const names = WORLD_NAMES.filter((name) => name.includes(values.world));
// The one that takes longest comes first.
const waiting = seeds.flatMap((seed) =>
  names.toReversed().map((world): Trial => ({ world, seed, rules: values.rules, isCurve: values.curve })),
);
const byWorld = new Map<string, Map<string, Scores>>();

function add(world: string, scores: ReadonlyMap<string, Scores>): void {
  const known = byWorld.get(world) ?? new Map<string, Scores>();
  byWorld.set(world, known);
  for (const [rules, one] of scores) {
    const other = known.get(rules);
    known.set(rules, other ? addScores(other, one) : one);
  }
}

async function work(): Promise<void> {
  const worker = new Worker(new URL('./trial-worker.ts', import.meta.url));
  for (let trial = waiting.shift(); trial; trial = waiting.shift()) {
    const { promise, resolve, reject } = Promise.withResolvers<Map<string, Scores>>();
    worker.onmessage = ({ data }: MessageEvent<Map<string, Scores>>) => resolve(data);
    worker.onerror = ({ message }) => reject(new Error(message));
    worker.postMessage(trial);
    add(trial.world, await promise);
  }
  worker.terminate();
}

await Promise.all(Array.from({ length: Number(values.workers) }, work));
const notSummed = [KINDS[0]?.name, LARGE.name, ...[...CHANGING, ...MASS].map(({ name }) => name)];
const all = new Map<string, Scores>();
for (const name of names) {
  const scores = byWorld.get(name) ?? new Map<string, Scores>();
  process.stdout.write(`${describeScores(name, scores)}\n`);
  if (notSummed.includes(name)) continue;
  for (const [rules, one] of scores) {
    const other = all.get(rules);
    all.set(rules, other ? addScores(other, one) : one);
  }
}
if (names.length > 1)
  process.stdout.write(`${describeScores('All with infrastructure trouble, to 5,000 tests', all)}\n`);
const [first] = all.values();
if (first && hasClaims(first.calibration)) process.stdout.write(`${describeCalibration(first.calibration)}\n`);
process.stdout.write(`seeds ${values.seeds}, ${((performance.now() - begun) / 1_000).toFixed(0)} s\n`);
