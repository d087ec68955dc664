/** All commands together; an error becomes a sentence and an exit code. */
import { Command, CommanderError } from 'commander';
import { STORE_TITLES, StoreUnavailable, UserError } from '../errors.ts';
import { deadLettersCommand } from './dead-letters.ts';
import { doctorCommand } from './doctor.ts';
import { explainCommand } from './explain.ts';
import { keysCommand } from './keys.ts';
import { migrateCommand } from './migrate.ts';
import { pushCommand } from './push.ts';
import { rebuildCommand } from './rebuild.ts';
import { reposCommand } from './repos.ts';
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
    process.stderr.write(`${sentenceOf(error)}\n`);
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

function sentenceOf(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (error instanceof StoreUnavailable) return `${STORE_TITLES[error.store]} is not responding. ${CHECK_STORE}`;
  const message = (error instanceof Error ? error.message : String(error)).split('\n')[0];
  return isUnreachable(error) ? `A store cannot be reached (${message}). ${CHECK_STORE}` : `Failed: ${message}`;
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT)/.test(String(error.code))) ||
    /^Connection (is closed|terminated)|timeout exceeded when trying to connect/.test(error.message));

const CHECK_STORE = 'Check that it is running and that its address is correct, then try again.';
