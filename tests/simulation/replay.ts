/**
 * `bun run replay <file> [--rules <part of a name>] [--curve] [--quiet-days]`: tries the rules of judgement, and the usual
 * rules of the field, on a real history of CI results (the format is in real-history.ts), and counts its failure groups.
 * With `--curve`, the rules with other levels; with `--quiet-days`, tests also pass on days on which the file leaves them out.
 */
import { parseArgs } from 'node:util';
import { FINGERPRINT_VERSION, normaliseMessage } from '../../src/domain/fingerprint.ts';
import { addQuietDays, readRealHistory } from './real-history.ts';
import { type RealScores, scoreReal } from './real-score.ts';
import type { Share } from './score.ts';
import { CURVE, RULES } from './trials.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    rules: { type: 'string', default: '' },
    curve: { type: 'boolean', default: false },
    'quiet-days': { type: 'boolean', default: false },
  },
});
const [file] = positionals;
if (file === undefined) {
  process.stderr.write('Name a file of results: bun run replay results.tsv.gz\n');
  process.exit(2);
}
const share = ({ right, of }: Share): string => (of === 0 ? '-' : (right / of).toFixed(2));
const COLUMNS: readonly (readonly [string, (scores: RealScores) => string])[] = [
  ['flaky: right', ({ flakyRight }) => share(flakyRight)],
  ['known', ({ flakyKnown }) => share(flakyKnown)],
  ['said broken: the next run fails', ({ brokenRight }) => share(brokenRight)],
  ['said after, of all failures', ({ brokenSaid }) => share(brokenSaid)],
  ['clean steps named', ({ steps }) => `${steps.right} of ${steps.of}`],
  ['wrong recoveries', ({ wrongRecoveries }) => `${wrongRecoveries.right} of ${wrongRecoveries.of}`],
];

const history = await readRealHistory(file);
if (values['quiet-days']) addQuietDays(history);
process.stdout.write(
  `${history.executions} executions of ${history.identities.length} identities in ${history.runs.length} runs\n\n`,
);
process.stdout.write(`| | ${COLUMNS.map(([name]) => name).join(' | ')} |\n|${'---|'.repeat(COLUMNS.length + 1)}\n`);
let limits = '';
for (const make of values.curve ? CURVE : RULES) {
  const rules = make();
  if (!rules.name.includes(values.rules)) continue;
  const scores = scoreReal(history, rules);
  process.stdout.write(`| ${rules.name} | ${COLUMNS.map(([, cell]) => cell(scores)).join(' | ')} |\n`);
  limits = `had run within two weeks before: ${share(scores.flakySeen)}, had done so before: ${share(scores.flakyBefore)}`;
}
process.stdout.write(`\nof the tests that passed and failed on one commit in the four weeks after a day, ${limits}\n`);

const groups = new Map<string, number>();
for (const run of history.runs)
  for (const [identity, { message }] of run.troubles) {
    const group = `${history.identities[identity]?.test}\0${normaliseMessage(message)}`;
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
const single = [...groups.values()].filter((failures) => failures === 1).length;
process.stdout.write(
  `\nfailure groups (fingerprint ${FINGERPRINT_VERSION}): ${groups.size}, of one failure: ${single}\n`,
);
