/** The commands for CI jobs, and how a command line is run: an error becomes a sentence and an exit code. */
import { Command, CommanderError } from 'commander';
import { version } from '../../package.json' with { type: 'json' };
import { UserError } from '../errors.ts';
import { printError } from './output.ts';
import { ServiceError } from './service-error.ts';

/** Wrong usage; a command that fails exits with 1. */
const EXIT_USAGE = 2;

/** Commands of CI jobs. They need a service and its key, and nothing of it on this machine. */
const JOB_COMMANDS: Readonly<Record<string, (wrapped: readonly string[]) => Promise<Command>>> = {
  push: async () => (await import('./push.ts')).pushCommand(),
  gate: async (wrapped) => (await import('./gate/command.ts')).gateCommand(wrapped),
  split: async (wrapped) => (await import('./split/command.ts')).splitCommand(wrapped),
  rerun: async (wrapped) => (await import('./commands/rerun.ts')).rerunCommand(wrapped),
  quarantine: async () => (await import('./commands/quarantine.ts')).quarantineCommand(),
  tests: async () => (await import('./commands/tests.ts')).testsCommand(),
  logs: async () => (await import('./commands/logs.ts')).logsCommand(),
  mcp: async () => (await import('./commands/mcp.ts')).mcpCommand(),
  skill: async () => (await import('./commands/skill.ts')).skillCommand(),
  import: async () => (await import('./import/command.ts')).importCommand(),
  why: async () => (await import('./commands/why.ts')).whyCommand(),
};

/** @param wrapped the command of the job, for `gate`, `rerun` and `split` */
export const jobCommands = (wrapped: readonly string[], names = Object.keys(JOB_COMMANDS)): Promise<Command[]> =>
  Promise.all(names.flatMap((name) => JOB_COMMANDS[name]?.(wrapped) ?? []));

/** Loading a command takes longer than most of what it does, so only those that a command line can mean are loaded. */
function namesMeant([first = '']: readonly string[]): string[] | undefined {
  if (first === '--version' || first === '-V') return [];
  return Object.hasOwn(JOB_COMMANDS, first) ? [first] : undefined;
}

/** Commands that run another one. */
const WRAPPING: ReadonlySet<string> = new Set(['gate', 'rerun', 'split']);

/**
 * Splits `gate junit reports -- npm test` at the dashes: what follows is the command of the job, with options
 * that the parser must not see.
 */
export function splitWrapped(args: readonly string[]): { own: readonly string[]; wrapped: readonly string[] } {
  const at = WRAPPING.has(args[0] ?? '') ? args.indexOf('--') : -1;
  return at < 0 ? { own: args, wrapped: [] } : { own: args.slice(0, at), wrapped: args.slice(at + 1) };
}

/** The `ci-insights` of CI jobs. */
export async function runClient(args: readonly string[]): Promise<number> {
  const { own, wrapped } = splitWrapped(args);
  const commands = await jobCommands(wrapped, namesMeant(own));
  const program = programOf('Sends test results from CI jobs, and asks about them', commands);
  return runProgram(program, own, (error) => printError(sentenceOf(error)));
}

export function programOf(description: string, commands: readonly Command[]): Command {
  const program = new Command('ci-insights')
    .description(description)
    .version(version)
    .showHelpAfterError('Add --help for usage.')
    // `push --pending` and `push junit` share options.
    .enablePositionalOptions();
  for (const command of commands) program.addCommand(command);
  inheritAll(program);
  return program;
}

/**
 * Runs a command line (without the program's name) and returns the exit code. Never throws.
 *
 * @param report says what went wrong, unless commander has
 */
export async function runProgram(
  program: Command,
  args: readonly string[],
  report: (error: unknown) => void,
): Promise<number> {
  try {
    await program.parseAsync(args, { from: 'user' });
    return Number(process.exitCode ?? 0);
  } catch (error) {
    // Commander has already printed its message; help and version end in an "error" with code 0.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE;
    report(error);
    return 1;
  }
}

function sentenceOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof UserError) return message;
  return error instanceof ServiceError ? `${message}.`.replace(/\.\.$/, '.') : `Failed: ${message.split('\n')[0]}`;
}

/** Subcommands that are built separately do not inherit the settings of their parent. */
function inheritAll(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command);
    inheritAll(child);
  }
  command.exitOverride();
}
