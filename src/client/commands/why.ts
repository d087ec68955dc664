/** `ci-insights why`: did a change cause what failed, or what is known of one test. */
import { Command } from 'commander';
import { attachmentTitle } from '../../domain/attachments.ts';
import { axisScopeWords } from '../../domain/axes-in-words.ts';
import { inLog } from '../../domain/foreign-text.ts';
import { UserError } from '../../errors.ts';
import { ASK_SECONDS_DEFAULT, type AskFlags, repositoryAsked } from '../ask-target.ts';
import { withTarget } from '../options.ts';
import { count, print, printJson } from '../output.ts';
import { parseWhole } from '../parse.ts';
import { quarantineProposal } from '../quarantine-proposal.ts';
import type { QuarantineRecord, TestDetails } from '../repository.ts';
import { asksClaims, type ClaimFlags, printClaims } from './claims.ts';

const FAILURES_SHOWN_MAX = 5;

export const whyCommand = (): Command =>
  withTarget(new Command('why'), ASK_SECONDS_DEFAULT)
    .description('say whether a change caused its failures; with the name of one test alone, why that is red')
    .argument('[test names...]', 'full names of tests; without any, all that failed')
    .option('--commit <sha>', 'the commit; default: that of the CI job')
    .option('--pull-request <number>', 'its newest commit on which something ran', parseWhole)
    .option('--base-commit <sha>', 'what the change is based on; default: the merge base, in a job of a pull request')
    .option(
      '--changed-files <file>',
      'the files that the change touches, one a line; - reads the standard input, git compares with the base; default: git, in a job of a pull request',
    )
    .option('--pipeline <name>', 'only runs of this pipeline')
    .option('--job <name>', 'only runs of this CI job')
    .option('--report <file>', 'only tests that failed in this report')
    .option('--log <file>', 'only tests that this log names; - reads the standard input')
    .option('--limit <number>', 'at most so many claims: 20, up to 100', parseWhole)
    .option('--json', 'print JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 nothing failed because of the change, 1 an error, 2 wrong usage, 3 the change caused a failure, 4 not enough to say.',
    )
    .action(async (names: string[], flags: AskFlags & ClaimFlags) => {
      const [testName] = names;
      if (testName === undefined || asksClaims(names, flags)) {
        await printClaims(names, flags);
        return;
      }
      const repository = repositoryAsked(flags);
      const [found] = await repository.tests([literally(testName)], 1);
      if (!found)
        throw new UserError(
          `No test of the default branch is named ${testName}. \`ci-insights tests 'part*'\` finds names.`,
        );
      const [details, { fails_with }, failures, quarantines] = await Promise.all([
        repository.details(found.test_id),
        repository.axes(found.test_id),
        repository.failures(found.test_id, FAILURES_SHOWN_MAX),
        repository.allQuarantines(undefined),
      ]);
      const [newest] = failures;
      const attachments = newest ? await repository.attachments(found.test_id, newest.id) : [];
      const own = quarantines.filter(({ test_name }) => test_name === testName);
      if (flags.json) {
        printJson({ ...details, fails_with, failures, attachments, quarantines: own });
        return;
      }
      const lines = [
        `${testName} is ${details.health_status} on the default branch.`,
        sharesInWords(details),
        `Last passed: ${details.last_success_at ?? 'never'}. Last failed: ${details.last_failure_at ?? 'never'}.`,
        ...(fails_with === null ? [] : [fails_with.sentence]),
        ...failures.map(
          ({ failure_count, exception_type, exception_message }) =>
            `  ${count(failure_count, 'time')}: ${[exception_type, exception_message].filter(Boolean).join(': ')}`,
        ),
        ...attachments.map((one) => `  ${attachmentTitle(one)} of the last failure: ${one.url}`),
        ...(details.reproduce ? [`Reproduce: ${details.reproduce}`] : []),
        ...own.map(quarantineInWords),
        ...(own.length > 0 || !fails_with?.scope ? [] : [quarantineProposal(testName, fails_with.scope)]),
        repository.historyUrl(found.test_id),
      ];
      for (const line of lines) print(inLog(line));
    });

/** With everything that narrows it: who reads of a quarantine expects that it covers the failure at hand. */
export function quarantineInWords(record: Omit<QuarantineRecord, 'id' | 'test_name'>): string {
  const { reason, branch, pipeline_name: pipeline, job_name: job, axes, failure_ids: failures } = record;
  const narrowings = [
    pipeline && `in the pipeline ${pipeline}`,
    job && `in the CI job ${job}`,
    axes && `with ${axisScopeWords(axes)}`,
    failures && `for ${count(failures.length, 'failure')}`,
  ].filter(Boolean);
  const only = narrowings.length === 0 ? '' : `, only ${narrowings.join(', ')}`;
  return `Quarantined on ${branch ?? 'every branch'}${only}: ${reason ?? 'no reason given'}`;
}

/** A name may hold what the search takes for a wildcard. */
const literally = (name: string): string => name.replace(/[\\*?]/g, '\\$&');

/** Rounded like the page does it. */
export function sharesInWords(
  details: Pick<TestDetails, 'failure_ratio' | 'flakiness_ratio' | 'success_ratio'>,
): string {
  const { failure_ratio: failed, flakiness_ratio: flaky, success_ratio: passed } = details;
  return failed + passed === 0
    ? 'It has neither passed nor failed in the last 30 days.'
    : `Of its executions of the last 30 days, ${shareInWords(failed)} failed and ${shareInWords(flaky)} were flaky.`;
}

/** To a tenth of a percent. Only nothing is 0%, and only everything 100%. */
function shareInWords(share: number): string {
  const tenths = Math.round(1_000 * share);
  if (share > 0 && tenths === 0) return 'less than 0.1%';
  if (share < 1 && tenths === 1_000) return 'more than 99.9%';
  return `${tenths / 10}%`;
}
