/** `ci-insights quarantine`: lists, adds and ends quarantines. */
import { Command } from 'commander';
import { z } from 'zod';
import { axisScopeWords } from '../../domain/axes-in-words.ts';
import type { AxisScope } from '../../domain/axis-scope.ts';
import { UserError } from '../../errors.ts';
import { ASK_SECONDS_DEFAULT, type AskFlags, repositoryAsked } from '../ask-target.ts';
import { withTarget } from '../options.ts';
import { count, formatTable, print, printJson } from '../output.ts';
import { collectAxisValue, parseExpiry, parseUrl } from '../parse.ts';
import type { QuarantineRecord, Repository } from '../repository.ts';

export function quarantineCommand(): Command {
  const command = new Command('quarantine').description('list, add and end quarantines of tests');
  command.addCommand(listCommand());
  command.addCommand(addCommand());
  command.addCommand(removeCommand());
  return command;
}

const asking = (command: Command): Command => withTarget(command, ASK_SECONDS_DEFAULT).option('--json', 'print JSON');

const listCommand = (): Command =>
  asking(new Command('list'))
    .description('list quarantines, newest first')
    .option('--branch <name>', 'only those that apply to this branch')
    .action(async ({ branch, ...flags }: AskFlags & { branch?: string }) => {
      const records = await repositoryAsked(flags).allQuarantines(branch);
      if (flags.json) printJson(records);
      else if (records.length === 0) print('No test is quarantined.');
      else print(formatTable(['ID', 'TEST', 'FOR', 'ENDS', 'OWNER', 'REASON'], records.map(rowOf)));
    });

const rowOf = (record: QuarantineRecord): string[] => [
  record.id,
  record.test_name,
  scopeOf(record),
  record.is_recovered ? 'recovered' : (record.expires_at?.slice(0, 10) ?? '-'),
  record.owner ?? '-',
  record.reason ?? '',
];

/** Describes the narrowing of a quarantine. */
function scopeOf({ branch, pipeline_name, job_name, axes, failure_ids }: QuarantineRecord): string {
  const parts = [
    branch,
    pipeline_name,
    job_name,
    axes && axisScopeWords(axes),
    failure_ids && count(failure_ids.length, 'failure'),
  ];
  return parts.filter(Boolean).join(', ') || 'everything';
}

interface AddFlags extends AskFlags {
  reason: string;
  branch?: string;
  pipeline?: string;
  job?: string;
  axis?: AxisScope;
  failure?: string[];
  expires?: Date;
  responsible?: string;
  ticket?: string;
}

const addCommand = (): Command =>
  asking(new Command('add'))
    .description('quarantine a test: its failures no longer fail jobs')
    .argument('<test name>', 'the full name of the test')
    .requiredOption('--reason <text>', 'why')
    .option('--branch <name>', 'only on this branch; a pattern may hold * and **')
    .option('--pipeline <name>', 'only in this pipeline')
    .option('--job <name>', 'only in this CI job')
    .option(
      '--axis <name=value>',
      'only in legs with it, such as os=windows; repeatable, of one name either value',
      collectAxisValue,
    )
    .option('--failure <id...>', 'only for these failure groups')
    .option('--expires <when>', 'when it ends: 14d, or a date', (value) => parseExpiry(value))
    .option('--responsible <name>', 'who will repair the test')
    .option('--ticket <url>', 'where the repair is tracked', parseUrl)
    .action(async (testName: string, flags: AddFlags) => {
      const body = {
        test_name: testName,
        reason: flags.reason,
        branch: flags.branch,
        pipeline_name: flags.pipeline,
        job_name: flags.job,
        axes: flags.axis,
        failure_ids: flags.failure,
        expires_at: flags.expires?.toISOString(),
        owner: flags.responsible,
        ticket_url: flags.ticket,
      };
      const created = await repositoryAsked(flags).ask('quarantines', z.object({ id: z.string() }), {
        method: 'POST',
        json: body,
      });
      if (flags.json) printJson(created);
      else print(`Quarantined ${testName}: ${created.id}`);
    });

const removeCommand = (): Command =>
  asking(new Command('remove'))
    .description('end quarantines')
    .argument('<id or test name>', 'the id of one, or the name of a test: all of its quarantines')
    .action(async (which: string, flags: AskFlags) => {
      const repository = repositoryAsked(flags);
      const ids = await idsOf(repository, which);
      for (const id of ids) await repository.ask(`quarantines/${id}`, z.unknown(), { method: 'DELETE' });
      if (flags.json) printJson({ removed: ids });
      else print(`Ended ${count(ids.length, 'quarantine')}.`);
    });

const ID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

async function idsOf(repository: Repository, which: string): Promise<string[]> {
  if (ID.test(which)) return [which];
  const records = (await repository.allQuarantines(undefined)).filter(({ test_name }) => test_name === which);
  if (records.length === 0) throw new UserError(`No quarantine has the id or the test ${which}.`);
  return records.map(({ id }) => id);
}
