/**
 * `bun tests/simulation/renames.ts [--worlds 1000] [--seed 1]`: how often renames are found and rightly so, in made-up
 * repositories whose truth is known, by kind of change and by confidence.
 */
import { parseArgs } from 'node:util';
import { proposeRenames } from '../../src/domain/renames.ts';
import { makeRenameWorld, NO_RENAMES, RENAMES, type RenameKind } from './rename-worlds.ts';

const { values } = parseArgs({
  options: { worlds: { type: 'string', default: '1000' }, seed: { type: 'string', default: '1' } },
});
const worlds = Number(values.worlds);
const say = (line: string): void => void process.stdout.write(`${line}\n`);

interface Score {
  planted: number;
  proposed: number;
  right: number;
}

const LEVELS = [0.5, 0.7, 0.9, 0.95];
const byLevel = new Map(LEVELS.map((level) => [level, { proposed: 0, right: 0 }]));

function scoreOf(kind: RenameKind): Score {
  const score: Score = { planted: 0, proposed: 0, right: 0 };
  for (let i = 0; i < worlds; i++) {
    const { tests, commits, truth } = makeRenameWorld(kind, Number(values.seed) * 1_000_003 + i);
    score.planted += truth.size;
    for (const { fromId, toId, confidence } of proposeRenames(tests, commits)) {
      const isRight = truth.get(fromId) === toId;
      score.proposed++;
      if (isRight) score.right++;
      const level = byLevel.get(LEVELS.findLast((one) => confidence >= one) ?? 0.5);
      if (!level) continue;
      level.proposed++;
      if (isRight) level.right++;
    }
  }
  return score;
}

const share = (part: number, of: number): string => (of === 0 ? '–' : `${((100 * part) / of).toFixed(1)}%`);

say('| change | planted | proposed | right | found |');
say('|---|---|---|---|---|');
for (const kind of [...RENAMES, ...NO_RENAMES]) {
  const { planted, proposed, right } = scoreOf(kind);
  say(`| ${kind} | ${planted} | ${proposed} | ${share(right, proposed)} | ${share(right, planted)} |`);
}
say('');
say('| confidence from | proposed | right |');
say('|---|---|---|');
for (const [level, { proposed, right }] of byLevel) say(`| ${level} | ${proposed} | ${share(right, proposed)} |`);
