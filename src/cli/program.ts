/** All commands together: those of the service, and those for CI jobs. */

import type { Command } from 'commander';
import { importCommand } from '../client/import/command.ts';
import { jobCommands, programOf, runProgram, splitWrapped } from '../client/program.ts';
import { linesInLog } from '../domain/foreign-text.ts';
import { standardError } from '../observability/standard-error.ts';
import { applyCommand } from './apply.ts';
import { auditCommand } from './audit.ts';
import { backtestCommand } from './backtest.ts';
import { deadLettersCommand } from './dead-letters.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { peopleCommand } from './people.ts';
import { rebuildCommand } from './rebuild.ts';
import { reconcileCommand } from './reconcile.ts';
import { reposCommand } from './repos.ts';
import { resendCommand } from './resend.ts';
import { sentenceOf } from './sentence.ts';
import { serveCommand } from './serve.ts';
import { sessionsCommand } from './sessions.ts';
import { forgetTestsCommand } from './tests-forget.ts';
import { copyCommand, dumpCommand, restoreCommand } from './transfer.ts';
import { verifyCommand } from './verify.ts';
import { workerCommand } from './worker.ts';

export const buildProgram = async (wrapped: readonly string[] = []) =>
  programOf('Self-hosted pull-request event log, CI test insights and test quarantine', [
    serveCommand(),
    workerCommand(),
    migrateCommand(),
    applyCommand(),
    keysCommand(),
    sessionsCommand(),
    auditCommand(),
    reposCommand(),
    peopleCommand(),
    ...(await jobCommands(wrapped)).map(withForget),
    importCommand(),
    rebuildCommand(),
    verifyCommand(),
    copyCommand(),
    dumpCommand(),
    restoreCommand(),
    reconcileCommand(),
    resendCommand(),
    explainCommand(),
    backtestCommand(),
    deadLettersCommand(),
    doctorCommand(),
  ]);

/** `tests` lists tests, for CI jobs too; only a server forgets them. */
const withForget = (command: Command): Command =>
  command.name() === 'tests' ? command.addCommand(forgetTestsCommand()) : command;

/** Runs a command line (without the program's name) and returns the exit code. Never throws. */
export async function run(args: readonly string[]): Promise<number> {
  const { own, wrapped } = splitWrapped(args);
  // Past what the service may have put in the place of `process.stderr`.
  return runProgram(await buildProgram(wrapped), own, (error) =>
    standardError.write(`${linesInLog(sentenceOf(error))}\n`),
  );
}
