/**
 * `bun tests/simulation/causes.ts [--worlds 3] [--seed 1] [--runs 1,4,10,40]`: how rightly the rule of causes joins the failures of
 * worlds whose causes are known, beside what one sees per test and per message. Scored by pairs of failures.
 */
import { parseArgs } from 'node:util';
import type { FailedInRun } from '../../src/domain/cause-node.ts';
import { findCauses } from '../../src/domain/causes.ts';
import { makeCauseWorld, type PlantedFailure, REPOSITORY } from './cause-worlds.ts';

const { values } = parseArgs({
  options: {
    worlds: { type: 'string', default: '3' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '1,4,10,40' },
  },
});
const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** The group of each failure. */
type Rule = (failures: readonly PlantedFailure[]) => ReadonlyMap<FailedInRun, string>;
const labelled = (failures: readonly PlantedFailure[], label: (failure: PlantedFailure) => string) =>
  new Map(failures.map((failure) => [failure, label(failure)]));
const byRule: Rule = (failures) =>
  new Map(
    findCauses(REPOSITORY, failures).nodes.flatMap((node) => node.failures.map((failure) => [failure, node.causeId])),
  );
const RULES: Readonly<Record<string, { hasStacks: boolean; rule: Rule }>> = {
  'test and message': {
    hasStacks: true,
    rule: (failures) => labelled(failures, ({ signature, testId }) => `${signature.id}\0${testId}`),
  },
  'type and message': {
    hasStacks: true,
    rule: (failures) =>
      labelled(failures, ({ signature: { exceptionType, message } }) => `${exceptionType}\0${message}`),
  },
  causes: { hasStacks: true, rule: byRule },
  'causes, without stacks': { hasStacks: false, rule: byRule },
};

const pairsOf = (counts: Iterable<number>): number => [...counts].reduce((sum, n) => sum + (n * (n - 1)) / 2, 0);
const countBy = <T>(items: readonly T[], key: (item: T) => string): number[] =>
  [...Map.groupBy(items, key).values()].map(({ length }) => length);

function score(failures: readonly PlantedFailure[], rule: Rule) {
  const groups = rule(failures);
  const group = (failure: PlantedFailure): string => groups.get(failure) ?? '';
  return {
    both: pairsOf(countBy(failures, (failure) => `${failure.cause}\0${group(failure)}`)),
    named: pairsOf(countBy(failures, group)),
    planted: pairsOf(countBy(failures, ({ cause }) => String(cause))),
    groups: new Set(groups.values()).size,
    causes: new Set(failures.map(({ cause }) => cause)).size,
  };
}

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
