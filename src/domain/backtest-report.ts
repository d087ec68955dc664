/** The result of a backtest, as the API and the command show it. */
import { z } from 'zod';
import { backtestPolicySchema } from './backtest-policy.ts';
import { REGRESSION_KINDS } from './backtest-regressions.ts';
import { grouped } from './grouped-number.ts';

/** Long lists are cut to so many entries; their length is given beside them. */
export const LISTED_MAX = 200;

const moment = z.iso.datetime().meta({ example: '2026-10-12T09:30:00.000Z' });
const count = (description: string, example: number) => z.int().min(0).meta({ description, example });
const testId = z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' });
const testName = z.string().meta({ example: 'Cart > sums' });

const quarantine = z.object({
  test_id: testId,
  test_name: testName,
  reason: z.string().meta({
    example: 'Flaky in CI / unit: failed in 4 of 52 executions (7.7%) since 2026-09-14 08:00 UTC, flaky on 3 commits.',
  }),
  failure_ids: z
    .array(z.guid())
    .nullable()
    .meta({ description: 'The failure groups that it excuses; null: every failure', example: null }),
  quarantined_at: moment,
  recovered_at: moment
    .nullable()
    .meta({ description: 'When it was released, as the test had recovered; null: not by the end', example: null }),
  hours: z.number().meta({ description: 'How long, until the end if it had not recovered', example: 212.5 }),
  spared_red_runs: count('Spared red runs in which the test failed', 9),
  hidden_regressions: count('Regressions of the test that it hid', 0),
});

const regression = z.object({
  test_id: testId,
  test_name: testName,
  kind: z.enum(REGRESSION_KINDS).meta({
    description:
      'new_failure: the default branch had not failed like this before; lasting: on so many commits that chance hardly explains it',
    example: 'new_failure',
  }),
  pipeline_name: z.string().meta({ example: 'CI' }),
  job_name: z.string().meta({ example: 'unit' }),
  failure_id: z
    .guid()
    .nullable()
    .meta({ description: 'Of its first failure', example: '1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12' }),
  commit: z.string().nullable().meta({ description: 'Of its first failure', example: '1f3a9c2' }),
  commits: count('Commits of the default branch on which it failed', 4),
  first_failed_at: moment,
  last_failed_at: moment,
  fixed_at: moment.nullable().meta({ description: 'When the test passed again; null: not by the end' }),
  fixed_by: z.string().nullable().meta({ description: 'The commit on which it passed again', example: '77aa01c' }),
  hidden_until: moment.nullable().meta({
    description: 'When it was fixed, or the quarantine ended, whichever came first; null: neither did by the end',
  }),
});

export const backtestReportSchema = z
  .object({
    policy: backtestPolicySchema,
    until: moment.meta({ description: 'The end of the replay' }),
    rules_version: z.int().meta({ example: 1 }),
    is_complete: z
      .boolean()
      .meta({ description: 'Whether no test had more executions than the replay considers', example: true }),
    tests: count('Tests that were replayed: those in which something went wrong', 31),
    quarantines_count: count('Quarantines that the policy would have made', 3),
    quarantines_at_once: count('Of these, in effect at once, at most', 2),
    red_runs: count('Attempts of CI jobs, on any branch, in which a test failed', 120),
    red_runs_spared: count('Of these, those whose failed tests were all excused', 41),
    default_branch_red_runs: count('Red runs of the default branch', 30),
    default_branch_red_runs_spared: count('Of these, spared', 12),
    hidden_regressions_count: count('Regressions whose first failures were excused', 1),
    quarantines: z
      .array(quarantine)
      .meta({ description: `Those that spared the most red runs first, up to ${LISTED_MAX}` }),
    hidden_regressions: z.array(regression).meta({ description: `The newest ${LISTED_MAX}, newest first` }),
  })
  .meta({ id: 'BacktestReport' });

export type BacktestReport = z.infer<typeof backtestReportSchema>;

type Figures = Pick<BacktestReport, 'quarantines_count' | 'red_runs' | 'red_runs_spared' | 'hidden_regressions_count'>;

/** The result in a sentence. */
export function backtestSummary({
  quarantines_count: quarantines,
  red_runs: red,
  red_runs_spared: spared,
  hidden_regressions_count: hidden,
}: Figures): string {
  if (quarantines === 0) return 'It would have quarantined nothing.';
  const regressions = hidden === 0 ? 'no regression' : many(hidden, 'regression');
  return `It would have made ${many(quarantines, 'quarantine')}, spared ${grouped(spared)} of ${many(red, 'red run')} and hidden ${regressions}.`;
}

const many = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
