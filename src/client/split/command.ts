/** `ci-insights split [-- command…]`: prints the tests that this shard is to run. */
import { Command, Option } from 'commander';
import { groupsOf, SPLIT_TOTAL_MAX } from '../../domain/split.ts';
import { SPLIT_BY } from '../../domain/split-names.ts';
import { UserError } from '../../errors.ts';
import { withTarget } from '../options.ts';
import { count, printError, printExactly } from '../output.ts';
import { collectAxis, parseWholeWithin } from '../parse.ts';
import { Repository } from '../repository.ts';
import { withoutSecrets } from '../secrets.ts';
import { type Connection, Service } from '../service.ts';
import { ServiceError } from '../service-error.ts';
import { type ClientEnvironment, readClientEnvironment } from '../settings.ts';
import { connectionOf, repositoryOf, runInfoOf } from '../target.ts';
import { type Listing, type ListingFlags, readListing } from './listing.ts';
import { runIdOf, type Shard, type ShardFlags, shardOf } from './shard.ts';

/** The tests wait for the answer. */
const TOTAL_SECONDS_DEFAULT = 60;

/** No answer, and no fallback: the shard must not run anything. Other errors exit with 1, wrong usage with 2. */
const EXIT_NO_ANSWER = 3;

const FALLBACKS = ['all', 'equal'] as const;

interface SplitFlags extends ShardFlags, ListingFlags {
  fallback?: (typeof FALLBACKS)[number];
  timeout: number;
}

/** @param wrapped the command that lists the tests, after `--`; empty: they come from standard input */
export const splitCommand = (wrapped: readonly string[]): Command =>
  withTarget(new Command('split'), TOTAL_SECONDS_DEFAULT)
    .summary('print the tests that this part of a job is to run')
    .description(
      'Splits a list of tests into parts of equal time, and prints the names of this part, one a line. The names come from standard input, or from the command after --, one a line. All parts of a run must list the same names. The time is that of the last two weeks on the default branch. A part may be empty. Exits with 3 if the service does not answer.',
    )
    .usage('[options] [-- command...]')
    .option('--total <number>', 'how many parts; default: as the CI says', parseWholeWithin(1, SPLIT_TOTAL_MAX))
    .option(
      '--index <number>',
      'this part, from 0 on; default: as the CI says',
      parseWholeWithin(0, SPLIT_TOTAL_MAX - 1),
    )
    .addOption(new Option('--by <what>', 'what the names are').choices(SPLIT_BY).default('file'))
    .option('--containing <text>', 'only lines that hold this text are names')
    .option('--list <name>', 'tells lists apart, if the job splits several')
    .option('--pipeline <name>', 'name of the pipeline (workflow)')
    .option('--job <name>', 'name of the CI job, the same in every part')
    .option('--axis <name=value>', 'what differs in this leg of a matrix, such as os=windows; repeatable', collectAxis)
    .option('--run-id <id>', "the CI provider's id of this run, the same in every part")
    .addOption(
      new Option(
        '--fallback <how>',
        'without an answer, run all tests in this part, or an equal number in each: right only if no part gets an answer',
      ).choices(FALLBACKS),
    )
    .action((flags: SplitFlags) => split(wrapped, flags));

async function split(wrapped: readonly string[], flags: SplitFlags): Promise<void> {
  const environment = readClientEnvironment();
  const shard = shardOf(flags, environment.variables);
  const listing = await readListing(wrapped, flags, withoutSecrets(environment.variables));
  const names = [...listing.keys()];
  const own = shard.total === 1 ? names : await namesOf(shard, names, flags, environment);
  if (own) printExactly(linesOf(listing, own));
}

/** In the order of the list. */
function linesOf(listing: Listing, names: readonly string[]): string[] {
  const own = new Set(names);
  return [...listing].flatMap(([name, lines]) => (own.has(name) ? lines : []));
}

/** The names of this shard; undefined if they are not known. */
async function namesOf(
  shard: Shard,
  names: readonly string[],
  flags: SplitFlags,
  environment: ClientEnvironment,
): Promise<readonly string[] | undefined> {
  const run = runInfoOf(environment);
  const runId = runIdOf(flags, run, environment.variables);
  const { owner, name } = repositoryOf(flags, run);
  try {
    const service = new Service(connectionFor(flags, environment), { totalMs: flags.timeout * 1_000 });
    const answer = await new Repository(service, owner, name).split({
      ...shard,
      names,
      by: flags.by,
      run_id: runId,
      pipeline_name: flags.pipeline ?? run.pipelineName,
      job_name: flags.job ?? run.jobName,
      axes: flags.axis,
      list: flags.list,
    });
    for (const warning of answer.warnings) printError(`Warning: ${warning}`);
    const [group] = answer.groups;
    if (!group) throw new ServiceError('the answer has no group', true);
    printError(
      `Part ${shard.index} of ${shard.total} has ${count(group.names.length, 'name')} of ${answer.names}, about ${Math.round(group.seconds)} s. The time of ${answer.known} is known.`,
    );
    return group.names;
  } catch (error) {
    if (!(error instanceof ServiceError)) throw error;
    printError(`${error.message}.`.replace(/\.\.$/, '.'));
    return withoutAnswer(shard, names, flags);
  }
}

/** A job that has no key, such as for a fork, gets no answer either. */
function connectionFor(flags: SplitFlags, environment: ClientEnvironment): Connection {
  try {
    return connectionOf(flags, environment);
  } catch (error) {
    if (error instanceof UserError) throw new ServiceError(error.message, true);
    throw error;
  }
}

function withoutAnswer(
  { total, index }: Shard,
  names: readonly string[],
  { fallback }: SplitFlags,
): readonly string[] | undefined {
  switch (fallback) {
    case 'all':
      printError('This part runs all tests of the list.');
      return names;
    case 'equal': {
      printError(
        'Warning: each part gets an equal number of names. If another part did get an answer, a test may run twice or never.',
      );
      const groups = groupsOf(
        names.map((one) => ({ name: one, ms: 1 })),
        total,
      );
      return names.filter((one) => groups.get(one) === index);
    }
    default:
      printError(
        'Nothing is split: a test that no part runs would look like one that passes. --fallback all runs everything here.',
      );
      process.exitCode = EXIT_NO_ANSWER;
      return undefined;
  }
}
