/** `ci-insights logs`: what happened on pull requests, to quarantines and settings. */
import { Command } from 'commander';
import { ASK_SECONDS_DEFAULT, type AskFlags, repositoryAsked } from '../ask-target.ts';
import { withTarget } from '../options.ts';
import { formatTable, print, printJson } from '../output.ts';
import { parseTime, parseWhole } from '../parse.ts';

const ROWS_DEFAULT = 50;

interface LogFlags extends AskFlags {
  limit: number;
  type?: string[];
  pullRequest?: number;
  since?: string;
}

export const logsCommand = (): Command =>
  withTarget(new Command('logs'), ASK_SECONDS_DEFAULT)
    .description('show the event log, newest first; it needs a key with the scope view or admin')
    .option('--type <type...>', 'only events of these types, such as test.quarantined')
    .option('--pull-request <number>', 'only of this pull request', parseWhole)
    .option('--since <time>', 'from this moment on; default: the last day', parseTime)
    .option('--limit <number>', 'at most so many', parseWhole, ROWS_DEFAULT)
    .option('--json', 'print JSON')
    .action(async ({ limit, type, pullRequest, since, ...flags }: LogFlags) => {
      const query = new URLSearchParams();
      for (const one of type ?? []) query.append('event_type', one);
      if (pullRequest !== undefined) query.set('pull_request', String(pullRequest));
      if (since !== undefined) query.set('received_from', since);
      const events = await repositoryAsked(flags).events(query, limit);
      if (flags.json) printJson(events);
      else if (events.length === 0) print('Nothing has happened.');
      else
        print(
          formatTable(
            ['RECEIVED', 'TYPE', 'BY', 'PULL', 'ABOUT'],
            events.map(({ received_at, type: what, trigger, pull_request, metadata }) => [
              received_at,
              what,
              trigger ?? '-',
              pull_request === null || pull_request === undefined ? '-' : String(pull_request),
              aboutOf(metadata),
            ]),
          ),
        );
    });

const aboutOf = ({ test_name, reason, queue_name }: Record<string, unknown>): string =>
  [test_name, queue_name, reason].filter((part) => typeof part === 'string').join(': ');
