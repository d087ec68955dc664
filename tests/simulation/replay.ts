/**
 * `bun run replay <file> [--service] [--days <n>] [--rules <part of a name>] [--curve] [--quiet-days]`: tries the rules of
 * judgement, and the usual rules of the field, on a real history of CI results (the format is in real-history.ts), and
 * counts its failure groups. With `--service`, the history also goes through a service, which is started for it; with
 * `--days`, only its first days are played; with `--curve`, the rules with other levels; with `--quiet-days`, tests also
 * pass on days on which the file leaves them out.
 */
import { parseArgs } from 'node:util';
import { FINGERPRINT_VERSION } from '../../src/domain/fingerprint.ts';
import { closeOnSignals } from '../bench/folder.ts';
import { describeCalibration, type Share } from './calibration.ts';
import { firstFailures } from './first-failures.ts';
import { type Groups, groupsOf } from './real-groups.ts';
import { addQuietDays, type Day, firstDays, legsOf, type RealHistory, readRealHistory } from './real-history.ts';
import { type RealScores, scoreReal } from './real-score.ts';
import { HistoryInService, withService } from './real-service.ts';
import { differencesOf, isoDay, type Verdicts, verdictsAskedTogether, verdictsOf } from './real-verdicts.ts';
import { ServiceRules } from './service-rules.ts';
import { CURVE, RULES } from './trials.ts';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    service: { type: 'boolean', default: false },
    days: { type: 'string', default: 'Infinity' },
    rules: { type: 'string', default: '' },
    curve: { type: 'boolean', default: false },
    'quiet-days': { type: 'boolean', default: false },
  },
});
const [file] = positionals;
const days = Number(values.days);
if (file === undefined || !(days >= 1)) {
  process.stderr.write('Name a file of results: bun run replay results.tsv.gz. --days takes a number from 1 on.\n');
  process.exit(2);
}
const share = ({ right, of }: Share = { right: 0, of: 0 }): string => (of === 0 ? '-' : (right / of).toFixed(2));
const COLUMNS: readonly (readonly [string, (scores: RealScores) => string])[] = [
  ['flaky: right', ({ flakyRight }) => share(flakyRight)],
  ['known', ({ flakyKnown }) => share(flakyKnown)],
  ['active: right', ({ activeRight }) => share(activeRight)],
  ['known', ({ activeKnown }) => share(activeKnown)],
  ['said broken: the next run fails', ({ brokenRight }) => share(brokenRight)],
  ['said after, of all failures', ({ brokenSaid }) => share(brokenSaid)],
  ['clean steps named', ({ steps }) => `${steps.right} of ${steps.of}`],
  ['wrong recoveries', ({ wrongRecoveries }) => `${wrongRecoveries.right} of ${wrongRecoveries.of}`],
];
const DIFFERENCES_SHOWN = 20;
const PROGRESS_MS = 5_000;

const history = firstDays(await readRealHistory(file), days);
if (values['quiet-days']) addQuietDays(history);
process.stdout.write(
  `${history.executions} executions of ${history.identities.length} identities in ${history.runs.length} runs\n\n`,
);
const served = values.service ? await serve(history) : undefined;

process.stdout.write(`| | ${COLUMNS.map(([name]) => name).join(' | ')} |\n|${'---|'.repeat(COLUMNS.length + 1)}\n`);
let limits = '';
/** Of the rules of the service. */
let calibration = '';
const score = (verdicts: Verdicts): void => {
  const scores = scoreReal(history, verdicts);
  process.stdout.write(`| ${verdicts.name} | ${COLUMNS.map(([, cell]) => cell(scores)).join(' | ')} |\n`);
  if (scores.calibration && calibration === '') calibration = describeCalibration(scores.calibration);
  limits = `had run within two weeks before: ${share(scores.flakySeen)}, had done so before: ${share(scores.flakyBefore)}`;
};
if (served) score(served.verdicts);
for (const make of values.curve ? CURVE : RULES) {
  const rules = make(legsOf(history));
  if (rules.name.includes(values.rules)) score(verdictsOf(history, rules));
}
process.stdout.write(`\nof the tests that passed and failed on one commit in the four weeks after a day, ${limits}\n`);

if (calibration !== '')
  process.stdout.write(`\nhow often claims of the rules held, by their probability\n\n${calibration}`);

const first = firstFailures(history);
process.stdout.write('\nfirst failures of a row, in the second half of the runs\n\n');
process.stdout.write(`| ${first.all.of}, of which ${share(first.all)} fail again | AUC | said broken | right |\n`);
process.stdout.write('|---|---|---|---|\n');
for (const [name, { auc, broken }] of first.scores)
  process.stdout.write(`| ${name} | ${auc.toFixed(2)} | ${broken.of} | ${share(broken)} |\n`);

const say = (who: string, { all, single }: Groups): void => {
  process.stdout.write(
    `\nfailure groups${who} (fingerprint ${FINGERPRINT_VERSION}): ${all}, of one failure: ${single}\n`,
  );
};
say('', groupsOf(history));
if (served) {
  say(' in the service', served.groups);
  compare(served);
}

interface Served {
  verdicts: Verdicts;
  groups: Groups;
  /** Differences that comparing everything derived with the executions found. */
  wrong: string[];
}

async function serve(history: RealHistory): Promise<Served> {
  closeOnSignals();
  const begun = performance.now();
  const minutes = (): string => `${((performance.now() - begun) / 60_000).toFixed(1)} min`;
  let executions = 0;
  let saidAt = begun;
  const onDay = ({ day, runs }: Day): void => {
    executions += runs.reduce((sum, run) => sum + run.identities.length, 0);
    if (performance.now() - saidAt < PROGRESS_MS) return;
    saidAt = performance.now();
    process.stderr.write(`${isoDay(day)}: ${executions} executions after ${minutes()}\n`);
  };
  return withService(async (service) => {
    const inService = new HistoryInService(service, history);
    const verdicts = await inService.play(onDay);
    const groups = await inService.readGroups();
    const wrong = await inService.verify();
    process.stdout.write(`through the service in ${minutes()}\n\n`);
    return { verdicts, groups, wrong };
  });
}

function compare({ verdicts, wrong }: Served): void {
  const differences = differencesOf(
    history,
    verdicts,
    verdictsAskedTogether(history, new ServiceRules({ legs: legsOf(history) })),
  );
  const asked = `after each of ${history.runs.length} runs and at the end of each of ${verdicts.atEndOfDay.size} days`;
  process.stdout.write(`\n${asked}, the service differs from the rules in ${differences.length} verdicts\n`);
  for (const difference of differences.slice(0, DIFFERENCES_SHOWN)) process.stdout.write(`${difference}\n`);
  process.stdout.write(`verify finds ${wrong.length === 0 ? 'no difference' : wrong.join('; ')}\n`);
  if (differences.length > 0 || wrong.length > 0) process.exitCode = 1;
}
