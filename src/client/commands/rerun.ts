/** `ci-insights rerun -- <command…>`: runs a test as often as it takes to tell flaky from broken, and sends what it saw. */
import { randomUUID } from 'node:crypto';
import { Command, InvalidArgumentError } from 'commander';
import { RERUNS_MAX } from '../../domain/change-claim.ts';
import { isDecided, type RerunDecision, type Reruns, rerunDecision } from '../../domain/rerun-decision.ts';
import { UserError } from '../../errors.ts';
import { ASK_SECONDS_DEFAULT, type AskFlags, repositoryAsked } from '../ask-target.ts';
import { readCheckout } from '../checkout.ts';
import { sortedFilesOf } from '../files.ts';
import { runCommand } from '../gate/child.ts';
import { fingerprintsOf } from '../gate/reports.ts';
import { checkedOut } from '../git.ts';
import { withTarget } from '../options.ts';
import { count, print, printError, printJson } from '../output.ts';
import { parseWhole } from '../parse.ts';
import type { Repository } from '../repository.ts';
import { withoutSecrets } from '../secrets.ts';
import { readClientEnvironment } from '../settings.ts';
import { uploadFile, uploadOfFile } from '../upload.ts';

interface RerunFlags extends AskFlags {
  until: number;
  max: number;
  test?: string;
  report?: string;
}

const UNTIL_DEFAULT = 0.95;
/** Exit codes; 1 and 2 are those of any command: it cannot do its work, or is used wrongly. */
const CODES = { passes: 0, flaky: 3, broken: 4 } as const;
const CODE_UNDECIDED = 5;
/** From here on, the command could not be run, or was ended from outside. */
const CODE_NOT_RUN_MIN = 126;

export const rerunCommand = (wrapped: readonly string[]): Command =>
  withTarget(new Command('rerun'), ASK_SECONDS_DEFAULT)
    .description(
      `Runs the command after -- until it is sure whether the test is flaky or fails always, on the code as it is here. Exits with 0 if it does not fail here, 3 if it is flaky, 4 if it fails always, 5 if that is not sure after the most runs, and with 126 or more if the command cannot be run. Works without a service.`,
    )
    .summary('run a test until it is sure whether it is flaky or broken')
    .usage('[options] -- command...')
    .option('--until <percent>', 'how sure to be', parsePercent, UNTIL_DEFAULT)
    .option('--max <number>', 'the most runs', parseWhole, RERUNS_MAX)
    .option('--test <name>', 'the full name of the test: the service says how often it fails')
    .option('--report <files>', 'a file, glob or folder with the reports of each run, which are sent')
    .option('--json', 'print the result as JSON; what the command prints goes to standard error')
    .action((flags: RerunFlags) => rerun(wrapped, flags));

function parsePercent(value: string): number {
  const percent = /^\d{1,2}(?:\.\d+)?%?$/.test(value) ? Number.parseFloat(value) : Number.NaN;
  if (percent >= 50 && percent < 100) return percent / 100;
  throw new InvalidArgumentError('Write a percentage from 50% to less than 100%, such as 95%.');
}

async function rerun(wrapped: readonly string[], flags: RerunFlags): Promise<void> {
  if (wrapped.length === 0) throw new UserError('Write the command after --, such as `rerun -- pytest tests`.');
  const { variables } = readClientEnvironment();
  const repository = reachable(flags);
  const rate = repository && flags.test !== undefined ? await rateOf(repository, flags.test) : null;
  const send = repository && flags.report !== undefined ? await senderOf(repository, flags.report) : null;
  const seen: Reruns = { failures: 0, passes: 0 };
  let decision: RerunDecision = rerunDecision(seen, rate);
  while (seen.failures + seen.passes < flags.max && !isDecided(seen, decision, flags.until)) {
    const { code } = await runCommand(wrapped, {
      isOutputForMachines: flags.json === true,
      variables: withoutSecrets(variables),
    });
    if (code >= CODE_NOT_RUN_MIN) {
      process.exitCode = code;
      printError(`Stopped: the command ended with ${code}. ${seenInWords(seen)}`);
      return;
    }
    seen[code === 0 ? 'passes' : 'failures']++;
    await send?.(seen.failures + seen.passes);
    decision = rerunDecision(seen, rate);
  }
  const { verdict, probability } = decision;
  const isSure = verdict !== null && isDecided(seen, decision, flags.until);
  process.exitCode = isSure ? CODES[verdict] : CODE_UNDECIDED;
  if (flags.json) printJson({ ...seen, rate, verdict: isSure ? verdict : null, probability });
  else print(`${seenInWords(seen)} ${verdictInWords(decision, isSure)}`);
}

const seenInWords = ({ failures, passes }: Reruns): string =>
  `It failed in ${failures} of ${count(failures + passes, 'run')}.`;

function verdictInWords({ verdict, probability }: RerunDecision, isSure: boolean): string {
  if (verdict === 'flaky') return 'It is flaky: the same code passed and failed.';
  // Never rounded up to the certainty that was asked for.
  const percent = `${Math.floor(1_000 * probability) / 10}%`;
  const words = verdict === 'broken' ? 'it fails always' : 'it does not fail here';
  return `${isSure ? 'Sure' : 'Not sure'} at ${percent}: ${words}.`;
}

/** Null, with a notice, where no service can be asked: what is seen here counts all the same. */
function reachable(flags: RerunFlags): Repository | null {
  if (flags.test === undefined && flags.report === undefined) return null;
  try {
    return repositoryAsked(flags);
  } catch (error) {
    printError(`Without the service: ${messageOf(error)}`);
    return null;
  }
}

/** How often the test failed in the last 30 days; null if it never did, or cannot be asked. */
async function rateOf(repository: Repository, test: string): Promise<number | null> {
  try {
    const [found] = await repository.tests([test.replace(/[\\*?]/g, '\\$&')], 1);
    if (!found) return null;
    return (await repository.details(found.test_id)).failure_ratio || null;
  } catch (error) {
    printError(`Its rate is not known: ${messageOf(error)}`);
    return null;
  }
}

/**
 * Sends the reports that a run has written. They are runs of a CI job that no pipeline has, on a branch that is none of the
 * repository's: so they show what this commit does, and never speak for the default branch.
 */
async function senderOf(repository: Repository, pattern: string): Promise<((attempt: number) => Promise<void>) | null> {
  const at = await checkedOut();
  if (!at || at.isChanged) {
    printError(
      `Nothing is sent: ${at ? 'there are changes that no commit has' : 'git does not say which commit this is'}.`,
    );
    return null;
  }
  const { commit } = at;
  const branch = readCheckout(process.cwd())?.branch ?? commit.slice(0, 12);
  const query = {
    ...{ pipeline_name: 'ci-insights rerun', job_name: 'rerun', run_id: randomUUID(), commit },
    ...{ branch: `rerun/${branch}`, place: ['machine:developer'] },
  };
  let before = await written(pattern);
  return async (attempt) => {
    const { formats } = await sortedFilesOf([pattern], process.cwd());
    const now = await fingerprintsOf([...formats.keys()]);
    for (const [file, format] of formats) {
      if (now.get(file) === before.get(file)) continue;
      const upload = uploadOfFile(format, { ...query, run_attempt: String(attempt) }, file, file);
      const { problem } = await uploadFile(repository, upload, format, 0);
      if (problem !== undefined) printError(`${file} is not sent: ${problem}`);
    }
    before = now;
  };
}

const written = async (pattern: string): Promise<ReadonlyMap<string, string>> =>
  fingerprintsOf([...(await sortedFilesOf([pattern], process.cwd())).formats.keys()]);

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
