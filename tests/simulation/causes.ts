/**
 * `bun tests/simulation/causes.ts [--worlds 3] [--seed 1] [--runs 1,4,10,40]`: how rightly the rule of causes joins the failures of
 * worlds whose causes are known, beside what one sees per test and per message. Scored by pairs of failures.
 */
import { parseArgs } from 'node:util';
import { RULES, score } from './cause-score.ts';
import { makeCauseWorld } from './cause-worlds.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1,4,10,40' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

say('| rule | runs a day | precision | recall | groups | causes |');
say('|---|---|---|---|---|---|');
for (const [name, { hasStacks, rule }] of Object.entries(RULES))
  for (const runs of values.runs.split(',').map(Number)) {
    const scores = Array.from({ length: Number(values.worlds) }, (_, i) =>
      score(makeCauseWorld(Number(values.seed) * 1_009 + i, runs, hasStacks), rule),
    );
    const sum = (pick: (one: ReturnType<typeof score>) => number): number =>
      scores.reduce((n, one) => n + pick(one), 0);
    const precision = sum(({ both }) => both) / sum(({ named }) => named);
    const recall = sum(({ both }) => both) / sum(({ planted }) => planted);
    const mean = (n: number): string => (n / scores.length).toFixed(0);
    const groups = [mean(sum((one) => one.groups)), mean(sum((one) => one.causes))];
    say(`| ${[name, runs, precision.toFixed(3), recall.toFixed(3), ...groups].join(' | ')} |`);
  }
