/**
 * `bun tests/simulation/axes.ts [--worlds 300] [--seed 1] [--runs 5,10,30,100] [--curve]`: how often the rule of axes, and Fisher's test
 * on pooled counts, name just the legs that are hit in worlds whose cause is known, and how often they name any where there
 * is none. With `--curve`, a table of how many causes the rule names, by how often they fail.
 */
import { parseArgs } from 'node:util';
import { explainByAxes } from '../../src/domain/axis-explanation.ts';
import { byFisher, legsNamed } from './axis-rules.ts';
import { type AxisWorld, type AxisWorldKind, CAUSES, makeAxisWorld, NO_CAUSES, SHARES } from './axis-worlds.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '5,10,30,100' },
    curve: { type: 'boolean', default: false },
  },
});
const worlds = Number(values.worlds);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The legs that a rule names: 1 for each of them; undefined if it names none. */
type Rule = (world: AxisWorld) => readonly boolean[] | undefined;
const withinCommits: Rule = ({ results, legs }) => legsNamed(explainByAxes(results), legs);
const RULES: Readonly<Record<string, Rule>> = {
  'within commits': withinCommits,
  Fisher: ({ results, legs }) => byFisher(results, legs),
};

function* worldsOf(kind: AxisWorldKind, runs: number): Generator<AxisWorld> {
  for (let i = 0; i < worlds; i++) yield makeAxisWorld(kind, Number(values.seed) * 1_000_003 + i, runs);
}

function scoreCause(rule: Rule, kind: AxisWorldKind, runs: number): { named: number; right: number } {
  const score = { named: 0, right: 0 };
  for (const world of worldsOf(kind, runs)) {
    const named = rule(world);
    if (!named) continue;
    score.named++;
    if (named.every((is, i) => is === world.hit?.[i])) score.right++;
  }
  return score;
}

/** Of the causes that fail so often, which share is named right. */
function foundOf(rule: Rule, share: number, runs: number): number {
  const all = CAUSES.flatMap((kind) => [...worldsOf(kind, runs)]).filter((world) => world.share === share);
  return all.filter((world) => rule(world)?.every((is, i) => is === world.hit?.[i])).length / all.length;
}

const asRow = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;

const numbers = values.runs.split(',').map(Number);
if (values.curve) {
  say(asRow(['after', ...SHARES.map((share) => `${100 * share}%`)]));
  say(asRow(['', ...SHARES].map(() => '---')));
  for (const runs of numbers) {
    const found = SHARES.map((share) => foundOf(withinCommits, share, runs));
    say(asRow([`${runs} runs`, ...found.map((one) => `${(100 * one).toFixed(0)}%`)]));
  }
  process.exit(0);
}

for (const runs of numbers)
  for (const [name, rule] of Object.entries(RULES)) {
    const begun = performance.now();
    const scores = CAUSES.map((kind) => scoreCause(rule, kind, runs));
    const named = scores.reduce((sum, one) => sum + one.named, 0);
    const right = scores.reduce((sum, one) => sum + one.right, 0);
    const recalls = scores.map((one, i) => `${CAUSES[i]} ${(one.right / worlds).toFixed(2)}`);
    const wrong = NO_CAUSES.map(
      (kind) => `${kind} ${((scoreCause(rule, kind, runs).named / worlds) * 1_000).toFixed(0)}`,
    );
    const micros = ((performance.now() - begun) * 1_000) / (worlds * (CAUSES.length + NO_CAUSES.length));
    say(
      `${runs} runs, ${name}: ${(right / named).toFixed(4)} of ${named} right, ${(right / (worlds * CAUSES.length)).toFixed(2)} found (${recalls.join(', ')}); ` +
        `named per 1,000 without a cause: ${wrong.join(', ')}; ${micros.toFixed(0)} µs a world`,
    );
  }
