/** All commands together; an error becomes a sentence and an exit code. */
import { Command, CommanderError } from 'commander';
import { pushCommand } from '../client/push.ts';
import { standardError } from '../observability/standard-error.ts';
import { deadLettersCommand } from './dead-letters.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { rebuildCommand } from './rebuild.ts';
import { reposCommand } from './repos.ts';
import { sentenceOf } from './sentence.ts';
import { serveCommand } from './serve.ts';
import { verifyCommand } from './verify.ts';
import { workerCommand } from './worker.ts';

/** Wrong usage; a command that fails exits with 1. */
const EXIT_USAGE = 2;

export function buildProgram(version: string): Command {
  const program = new Command('ci-insights')
    .description('Self-hosted pull-request event log, CI test insights and test quarantine')
    .version(version)
    .showHelpAfterError('Add --help for usage.');
  for (const command of [
    serveCommand(),
    workerCommand(),
    migrateCommand(),
    keysCommand(),
    reposCommand(),
    pushCommand(),
    rebuildCommand(),
    verifyCommand(),
    explainCommand(),
    deadLettersCommand(),
    doctorCommand(),
  ])
    program.addCommand(command);
  inheritAll(program);
  return program;
}

/** Runs a command line (without the program's name) and returns the exit code. Never throws. */
export async function run(args: readonly string[], version: string): Promise<number> {
  try {
    await buildProgram(version).parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Commander has already printed its message; help and version end in an "error" with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    // Past what the service may have put in the place of `process.stderr`.
    standardError.write(`${sentenceOf(error)}\n`);
    return 1;
  }
}

/** Subcommands that are built separately do not inherit the settings of their parent. */
function inheritAll(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritAll(child);
  }
  command.exitOverride();
}
