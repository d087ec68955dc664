/** `bun run simulate [--seed 1] [--days 90] [--tests 2000]`: tries the rules of judgement on a repository whose truth is known. */
import { parseArgs } from 'node:util';
import { replay } from './replay.ts';
import { describeScores } from './report.ts';
import { score } from './score.ts';
import { makeWorld } from './world.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    days: { type: 'string', default: '90' },
    tests: { type: 'string', default: '2000' },
  },
});
const world = makeWorld({
  seed: Number(values.seed),
  days: Number(values.days),
  tests: Number(values.tests),
  start: Date.UTC(2026, 0, 5),
});
const played = replay(world);
process.stdout.write(
  `seed ${values.seed}: ${world.tests.length} tests over ${values.days} days, ${played.executions} executions, everything fails on days ${world.outageDays.join(', ')}\n${describeScores(score(world, played))}\n`,
);
