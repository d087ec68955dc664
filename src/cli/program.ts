/** The commands put together, and what an error becomes: a sentence and an exit code. */
import { Command, CommanderError } from 'commander';
import { StoreUnavailable, UserError } from '../errors.ts';
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

/** Wrong use of the command line, as against a command that failed (1). */
const EXIT_USAGE = 2;

export function buildProgram(version: string): Command {
  const program = new Command('ci-insights')
    .description('Self-hosted pull-request event log, CI test insights and test quarantine')
    .version(version)
    .showHelpAfterError('Add --help for how to use it.');
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
    // Commander has printed its message already; help and version end in an "error" of code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    process.stderr.write(`${sentenceOf(error)}\n`);
    return 1;
  }
}

/** Subcommands made apart know nothing of their parent's settings. */
function inheritAll(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritAll(child);
  }
  command.exitOverride();
}

function sentenceOf(error: unknown): string {
  if (error instanceof UserError) return error.message;
  if (error instanceof StoreUnavailable)
    return `${STORES[error.store]} does not answer. Look whether it runs and whether its address is right, then try again.`;
  const message = (error instanceof Error ? error.message : String(error)).split('\n')[0];
  return isUnreachable(error)
    ? `A store cannot be reached (${message}). Look whether it runs and whether its address is right, then try again.`
    : `Failed: ${message}`;
}

const isUnreachable = (error: unknown): boolean =>
  error instanceof Error &&
  (('code' in error && /^(ECONN|ENOTFOUND|EAI_|EHOST|ENET|ETIMEDOUT)/.test(String(error.code))) ||
    /^Connection (is closed|terminated)|timeout exceeded when trying to connect/.test(error.message));

const STORES = { clickhouse: 'ClickHouse', postgres: 'PostgreSQL', queue: 'The queue' } as const;
