/** The explanation of a test as a document: its fields. They are only ever added. */

import { z } from 'zod';
import { ACTIVE_DAYS } from '../domain/activity.ts';
import { axesSchema } from '../domain/axes.ts';
import { CAUSES } from '../domain/belief-fold.ts';
import { LEVELS } from '../domain/health-confidence.ts';
import { PASSES_MAX } from '../domain/passes-until-healthy.ts';
import { HEALTHS, STATUSES } from '../domain/status.ts';
import { TROUBLES } from '../domain/troubled-run.ts';
import { EXECUTIONS_MAX } from './explain.ts';
import { failsWithField } from './fails-with-schema.ts';

/** The newest changes of health, and the newest executions of a list, that an explanation holds. */
export const CHANGES_MAX = 20;
export const LISTED_MAX = 20;

export const moment = z.iso.datetime().meta({ example: '2026-11-21T09:30:00.000Z' });
export const health = z.enum(HEALTHS).meta({ example: 'flaky' });
export const count = (description: string, example = 1) => z.int().min(0).meta({ description, example });

export const passesNeeded = (description: string) =>
  z
    .int()
    .min(0)
    .nullable()
    .meta({
      description: `${description}; 0: it is. Null: more than ${PASSES_MAX.toLocaleString('en-US')}`,
      example: 207,
    });

const execution = z
  .object({
    status: z.enum(STATUSES).meta({ example: 'failed' }),
    finished_at: moment,
    received_at: moment.meta({ description: 'When it was stored' }),
    is_stored_later: z
      .boolean()
      .meta({ description: 'Whether it was stored after `as_of`, so that it was not known then', example: false }),
    run_id: z.string().nullable().meta({ example: '1001' }),
    run_attempt: z.int().meta({ example: 1 }),
    commit: z.string().nullable().meta({ example: '1f3a9c2' }),
    job_url: z.string().nullable().meta({ example: 'https://ci.acme.example/jobs/1001' }),
    pull_request: z
      .int()
      .nullable()
      .meta({ description: 'Null on the default branch, and where none is known', example: null }),
  })
  .meta({ id: 'ExplainedExecution' });

const trouble = z.enum(TROUBLES).meta({ example: 'total' });
const reason = z.string().meta({
  description: 'In words',
  example: '200 of 212 executions failed unexpectedly: a healthy test fails in this run with a probability of 92%',
});
export const probability = (description: string, example: number) =>
  z.number().min(0).max(1).meta({ description, example });

export const probableFixField = z
  .object({
    commit: z.string().meta({ description: 'The first commit on which it passed since', example: '7c2e9d4' }),
    passed_at: moment.meta({ description: 'When it passed' }),
    last_failing_commit: z.string().nullable().meta({
      description: 'The commit of its last failure that its run does not explain; the fix came after it',
      example: '1f3a9c2',
    }),
    probability: probability(
      'How likely the test is healthy because of this commit, and not of a later one before which it only passed by luck',
      0.93,
    ),
  })
  .nullable()
  .meta({
    id: 'ProbableFix',
    description:
      'The commit that probably ended its failures. Null: it has not failed, or not passed since; or that commit is unknown, or had failed before, so that something else ended them',
  });

export const axesOut = axesSchema.meta({
  description: 'Of the leg, as it was named; empty without axes',
  example: { os: 'linux' },
});

const identity = z.object({
  pipeline_name: z.string().meta({ example: 'CI' }),
  job_name: z.string().meta({ example: 'unit' }),
  axes: axesOut,
  health_status: health,
  is_active: z.boolean().meta({
    description: `Whether it is worth an alarm: broken, or flaky and failed on its own in the last ${ACTIVE_DAYS} UTC days`,
    example: true,
  }),
  health_confidence: z
    .enum(LEVELS)
    .meta({ description: 'How sure the health is, by its probability', example: 'high' }),
  health_probability: probability('How likely the health is right', 0.983),
  has_enough_runs: z.boolean().meta({
    description: 'False: the health is what is likeliest, but there are not enough runs to know',
    example: true,
  }),
  probabilities: z.object({
    healthy: probability('How likely the test is healthy', 0.015),
    flaky: probability('How likely it is flaky', 0.983),
    broken: probability('How likely it is broken', 0.002),
  }),
  flaky_rate: probability('How often it fails on its own if it is flaky', 0.05),
  since_commit: z.string().nullable().meta({
    description: 'The commit of the first execution that decides: since when it is flaky or broken, as far as is known',
    example: '1f3a9c2',
  }),
  is_recent: z.boolean().meta({
    description: "Whether it ran within 14 days before the test's newest execution, so that its health counts",
    example: true,
  }),
  executions_count: count('Passed and failed executions that were considered', 12),
  flaky_count: count('Of these, flaky ones'),
  held_back_count: count('Of these, failures that are no evidence, because their run caused them', 0),
  clean_passes: count('Clean passes in a row', 3),
  clean_passes_needed: z.int().min(0).nullable().meta({
    description:
      'How many more in a row, as often as lately, make it surely healthy (97%); 0: it is. Null: more than 10,000',
    example: 207,
  }),
  probable_fix: probableFixField,
  changes_count: count('Changes of health'),
  changes: z
    .array(
      z.object({
        from: health,
        to: health,
        rule: z.string().meta({
          description: 'What decided, in words',
          example: 'flaky with a probability of 91.4%: its own failures on 2 commits',
        }),
        probability: probability('How likely the new health was right then', 0.914),
        executions: z
          .array(execution)
          .meta({ description: 'Those that decided; last, the one that caused the change' }),
      }),
    )
    .meta({ description: `The newest ${CHANGES_MAX}, oldest first` }),
  evidence: z
    .array(execution)
    .meta({ description: 'The executions on which the health rests now, oldest first; of a healthy test none' }),
  failures_count: count('Failures, and passes after failed attempts'),
  failures: z
    .array(
      z.object({
        execution,
        cause: z.enum(CAUSES).meta({
          description:
            'What caused it, by what is known now: the `test` (it is flaky), its `run`, a `commit` that broke the test, or the world `outside` (it broke on a commit that had passed)',
          example: 'test',
        }),
        is_flaky: z.boolean().meta({ description: 'Whether it counts as a flaky execution', example: true }),
        other_legs: z
          .object({
            passed: z.boolean().meta({ description: 'Whether it passed in one of them', example: true }),
            failed: z.int().meta({ description: 'In how many it failed; 2 stands for more', example: 0 }),
          })
          .nullable()
          .meta({
            description:
              'What the test last did in its other legs and CI jobs on the commit; null if it ran in none of them, or off the default branch',
          }),
        trouble,
        reason: reason.nullable(),
      }),
    )
    .meta({ description: `What went wrong and what caused it: the newest ${LISTED_MAX}, oldest first` }),
  held_back: z
    .array(z.object({ execution, trouble, reason }))
    .meta({ description: `Of all failures, those that their run caused: the newest ${LISTED_MAX}, oldest first` }),
  contradictions_count: count(
    'Commits off the default branch on which the test failed, and passed in another attempt or after failed attempts',
    0,
  ),
  contradictions: z
    .array(
      z.object({
        execution: execution.meta({ description: 'What failed, or passed after failed attempts' }),
        at: moment.meta({ description: 'When both results were there' }),
        is_evidence: z
          .boolean()
          .meta({ description: 'Whether it shows that the test is flaky. False: its run explains it', example: true }),
        trouble,
        reason: reason.nullable(),
      }),
    )
    .meta({
      description: `Evidence that the test is flaky, and never that it is broken: the newest ${LISTED_MAX}, oldest first`,
    }),
  troubled_runs: z
    .array(
      z.object({
        day: z.iso.date().meta({ example: '2026-11-21' }),
        run_id: z.string().nullable().meta({ example: '1001' }),
        run_attempt: z.int().meta({ example: 1 }),
        trouble,
        reason,
      }),
    )
    .meta({ description: `Troubled runs in which the test failed: the newest ${LISTED_MAX}, oldest first` }),
});

const recovery = z.object({
  quarantine_id: z.guid().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
  source: z.string().meta({ example: 'manual' }),
  branch: z.string().nullable().meta({ example: null }),
  pipeline_name: z.string().nullable().meta({ example: null }),
  job_name: z.string().nullable().meta({ example: null }),
  failure_ids: z.array(z.guid()).nullable().meta({ example: null }),
  expires_at: moment.nullable().meta({ description: 'When it ends automatically; null: never' }),
  reason: z.string().meta({ example: 'rounds at midnight' }),
  created_at: moment,
  is_recovered: z.boolean().meta({ example: false }),
  identities: z.array(
    z.object({
      pipeline_name: z.string().meta({ example: 'CI' }),
      job_name: z.string().meta({ example: 'unit' }),
      axes: axesOut,
      health_status: health,
      clean_passes: count('Clean passes since the quarantine', 3),
      clean_passes_needed: z.int().min(0).nullable().meta({
        description: 'How many more in a row make it surely healthy; 0: it is. Null: more than 10,000',
        example: 207,
      }),
    }),
  ),
});

export const explanationSchema = z
  .object({
    test_id: z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' }),
    test_name: z.string().meta({ example: 'Cart > totals > sums [a, b] with 10% tax' }),
    as_of: moment.nullable().meta({ description: 'The moment that was asked for; null: everything stored so far' }),
    rules_version: z.int().meta({ description: 'Version of the rules that were applied', example: 1 }),
    fingerprint_version: z.int().meta({ example: 1 }),
    health_status: health.meta({ description: 'The worst health of the recent identities' }),
    is_complete: z.boolean().meta({
      description: `False: the test has more executions, and only its newest ${EXECUTIONS_MAX.toLocaleString('en-US')} were considered`,
      example: true,
    }),
    fails_with: failsWithField,
    identities: z.array(identity).meta({ description: 'Newest first; empty if nothing had passed or failed by then' }),
    quarantines: z.array(recovery).meta({ description: 'Open quarantines that were made by then' }),
  })
  .meta({ id: 'Explanation' });

export type Explanation = z.infer<typeof explanationSchema>;
