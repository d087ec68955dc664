/** `ci-insights tests`: which tests a repository has. */
import { Command } from 'commander';
import { ASK_SECONDS_DEFAULT, type AskFlags, repositoryAsked } from '../ask-target.ts';
import { withTarget } from '../options.ts';
import { formatTable, print, printJson } from '../output.ts';
import { parseWhole } from '../parse.ts';

const ROWS_DEFAULT = 50;

export const testsCommand = (): Command =>
  withTarget(new Command('tests'), ASK_SECONDS_DEFAULT)
    .description('list the tests of the default branch')
    .argument('[names...]', 'names; * and ? are wildcards', ['*'])
    .option('--limit <number>', 'at most so many', parseWhole, ROWS_DEFAULT)
    .option('--json', 'print JSON')
    .action(async (names: string[], { limit, ...flags }: AskFlags & { limit: number }) => {
      const tests = await repositoryAsked(flags).tests(names, limit);
      if (flags.json) printJson(tests);
      else if (tests.length === 0) print('No test has such a name.');
      else
        print(
          formatTable(
            ['TEST', 'PIPELINE', 'JOB', 'ID'],
            tests.map(({ test_name, pipeline_name, job_name, test_id }) => [
              test_name,
              pipeline_name,
              job_name,
              test_id,
            ]),
          ),
        );
    });
