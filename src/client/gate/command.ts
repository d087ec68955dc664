/** `ci-insights gate <format> <files…> [-- command…]`: runs the tests of a job and excuses what is known to fail. */
import { Command, InvalidArgumentError } from 'commander';
import { failuresInWords } from '../../domain/failures-in-words.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { FORMATS } from '../../formats/formats.ts';
import { attachmentsPlaceOf } from '../attachments.ts';
import { leftOutSentence, reportFilesOf } from '../files.ts';
import { withRun, withTarget } from '../options.ts';
import { publish } from '../outputs/publish.ts';
import { PENDING_FOLDER } from '../pending.ts';
import { withoutSecrets } from '../secrets.ts';
import { type ClientEnvironment, readClientEnvironment } from '../settings.ts';
import type { RunFlags } from '../target.ts';
import { runCommand } from './child.ts';
import { type Consulted, consult } from './consult.ts';
import { decide, EXCUSES, type Excuse, isExcused, VERDICTS } from './decision.ts';
import { parseFailureCodes, usualFailureCodes } from './exit-codes.ts';
import { fingerprintsOf, type ReadReports, readReports } from './reports.ts';
import type { GateResult, JudgedTest } from './result.ts';

interface GateFlags extends RunFlags {
  excuse: ReadonlySet<Excuse>;
  failureCodes: readonly number[];
  passToken?: boolean;
  timeout: number;
  pendingFolder: string;
  comment?: boolean;
  check?: boolean;
  json?: boolean;
}

/** The tests are over, and people wait for the job. */
const TOTAL_SECONDS_DEFAULT = 120;

/** @param wrapped the command of the job, after `--`; empty if an earlier step ran it */
export function gateCommand(wrapped: readonly string[]): Command {
  const command = new Command('gate').description(
    'let a job pass if every failed test is excused, such as by a quarantine',
  );
  for (const format of FORMATS) command.addCommand(formatCommand(format, wrapped));
  return command;
}

const formatCommand = (format: ReportFormat, wrapped: readonly string[]): Command =>
  withRun(withTarget(new Command(format.name), TOTAL_SECONDS_DEFAULT))
    .summary(`judge ${format.title} reports`)
    .description(
      `Runs the command after --, if there is one, then sends the ${format.title} reports and prints a verdict on each failed test. Exits with 0 if every failure is excused, else as the command did (1 without a command). A crash, and a report that is missing, cut short or announces more than it has, is never excused. The command sees neither the key nor what asks for identity tokens. If the service does not answer, the result of the job stands.`,
    )
    .usage('[options] <files...> [-- command...]')
    .argument('<files...>', `files, globs, or folders (every ${format.globs.join(' and ')} in them)`)
    .option(
      '--excuse <verdicts>',
      'what to excuse besides quarantined failures: flaky, broken, or both with a comma',
      parseExcuses,
      new Set<Excuse>(['quarantined']),
    )
    .option(
      '--failure-codes <codes>',
      'exit codes with which the command says that tests failed, such as 1,3 or 1-125; another is never excused',
      parseFailureCodes,
      usualFailureCodes(format),
    )
    .option('--pass-token', 'let the command see the key and what asks the CI provider for identity tokens')
    .option('--pending-folder <folder>', 'keeps reports that cannot be sent, for push --pending', PENDING_FOLDER)
    .option('--comment', 'keep one comment on the pull request about what failed on its newest commit')
    .option('--check', 'keep one check run (GitHub) or status (GitLab) on the commit: whether the gate lets it pass')
    .option('--json', 'print the result as JSON; what the command prints goes to standard error')
    .action((patterns: string[], flags: GateFlags) => gate(format, patterns, wrapped, flags));

/** Quarantined failures are always excused, new ones never. */
function parseExcuses(value: string, before: ReadonlySet<Excuse>): ReadonlySet<Excuse> {
  const words = value.split(',').map((word) => word.trim());
  const known = (word: string): word is Excuse => Object.hasOwn(EXCUSES, word);
  const unknown = words.find((word) => !known(word));
  if (unknown !== undefined)
    throw new InvalidArgumentError(`"${unknown}" cannot be excused; ${Object.keys(EXCUSES).join(', ')} can.`);
  return new Set([...before, ...words.filter(known)]);
}

async function gate(
  format: ReportFormat,
  patterns: readonly string[],
  wrapped: readonly string[],
  flags: GateFlags,
): Promise<void> {
  const environment = readClientEnvironment();
  const before = await fingerprintsOf((await reportFilesOf(patterns, format, process.cwd())).files);
  const variables = flags.passToken ? environment.variables : withoutSecrets(environment.variables);
  const isOutputForMachines = flags.json === true;
  const command = wrapped.length > 0 ? await runCommand(wrapped, { isOutputForMachines, variables }) : null;
  const { files, leftOut } = await reportFilesOf(patterns, format, process.cwd());
  // A command that crashes leaves the reports of an earlier run, which say nothing about this one.
  const now = await fingerprintsOf(files);
  const stale = command === null ? [] : files.filter((file) => before.get(file) === now.get(file));
  const written = files.filter((file) => !stale.includes(file));
  const reports = await readReports(format, written, attachmentsPlaceOf(flags));
  const consulted = await consult({ format, files: written, failed: reports.failed, environment, flags });
  const failures = judged(reports, consulted, flags.excuse);
  const decision = decide(
    {
      command,
      failureCodes: flags.failureCodes,
      tests: reports.tests,
      hasTrouble: reports.troubles.length > 0,
      verdicts: failures.map(({ verdict }) => verdict),
    },
    flags.excuse,
  );
  process.exitCode = decision.code;
  const told = await tellHost(consulted, failures, environment, { ...flags, isPassed: decision.code === 0 });
  const notices = await Promise.all(leftOut.map((file) => leftOutSentence(file, format, process.cwd())));
  const result: GateResult = {
    decision,
    tests: reports.tests,
    summary: summaryOf(failures, consulted, decision.code === 0),
    failures,
    troubles: [
      ...reports.troubles,
      ...stale.map((file) => `${file} was not written by this command, and does not count.`),
    ],
    notices: [...notices, ...consulted.notices, ...told],
    uploads: consulted.uploads,
  };
  publish(result, {
    variables: environment.variables,
    isTerminal: process.stdout.isTTY === true,
    isJson: flags.json === true,
    nowMs: Date.now(),
  });
}

interface Telling {
  comment?: boolean;
  check?: boolean;
  excuse: ReadonlySet<Excuse>;
  isPassed: boolean;
}

/** Returns notices. */
async function tellHost(
  { subject }: Consulted,
  failures: readonly JudgedTest[],
  environment: ClientEnvironment,
  { comment, check, excuse, isPassed }: Telling,
): Promise<string[]> {
  if (subject === null) return [];
  const notices: string[] = [];
  if (comment) {
    const { commentOn } = await import('../pull-request/comment.ts');
    notices.push(...(await commentOn(subject, environment, isPassed)));
  }
  if (check) {
    const { checkCommit } = await import('../pull-request/check.ts');
    notices.push(...(await checkCommit(subject, environment, { isPassed, failures, excuse })));
  }
  return notices;
}

/** Judged tests, first those that need attention. */
function judged({ failed }: ReadReports, { known, historyUrl }: Consulted, policy: ReadonlySet<Excuse>): JudgedTest[] {
  const tests = failed.map(({ name, exceptionType, exceptionMessage, sourcePath, line, attachments }) => {
    const { verdict = 'unknown', because = null, where = null, owners = [], testId = null } = known.get(name) ?? {};
    return {
      name,
      verdict,
      isExcused: isExcused(verdict, policy),
      because,
      where,
      owners,
      exceptionType,
      exceptionMessage,
      sourcePath,
      line,
      attachments,
      historyUrl: testId === null ? null : historyUrl(testId),
    } satisfies JudgedTest;
  });
  return tests.sort((a, b) => VERDICTS.indexOf(a.verdict) - VERDICTS.indexOf(b.verdict) || (a.name < b.name ? -1 : 1));
}

function summaryOf(failures: readonly JudgedTest[], { known }: Consulted, isPassed: boolean): string | null {
  if (failures.length === 0) return null;
  const since = failures.flatMap(({ name }) => Date.parse(known.get(name)?.brokenSince ?? '') || []);
  const counts: Partial<Record<JudgedTest['verdict'], number>> = {};
  for (const { verdict } of failures) counts[verdict] = (counts[verdict] ?? 0) + 1;
  return failuresInWords({
    counts,
    defaultBranch: null,
    brokenSince: since.length === 0 ? null : Math.min(...since),
    now: Date.now(),
    isPassed,
  });
}
