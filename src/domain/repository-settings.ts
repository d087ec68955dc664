/**
 * Settings of a repository: one rule for the API and the command line. The names are those of the API.
 */
import { z } from 'zod';
import { shortBranch } from './default-branch.ts';
import { hostPageSchema } from './host-page.ts';
import { NAME_LENGTH_MAX } from './limits.ts';
import { ownerRulesSchema } from './owner-rules.ts';
import { AUTO_QUARANTINE_MODES, QUARANTINE_LIMIT_MAX, QUARANTINE_WARNING_DAYS_MAX } from './quarantine-rules.ts';
import { RULE_CONFIDENCE_MIN } from './rename-decisions.ts';
import { RERUN_PERCENT_MAX } from './rerun-plan.ts';
import { textProblem } from './text.ts';

const whole = (min: number, max: number, elsewhere = '') => {
  const error = `must be a whole number from ${min} to ${max}${elsewhere}`;
  return z.int({ error }).min(min, { error }).max(max, { error });
};

/** The same maximum as that of `RETENTION_DAYS`. */
export const EVENT_RETENTION_DAYS_MAX = 36_500;

/** A test that runs once a month only is never taken for one that is gone. */
export const FORGET_TESTS_AFTER_DAYS_MIN = 60;

/** Of what red runs cost (cost.ts). */
export const PRICE_MAX = 100_000;
const price = (description: string, example: number) => {
  const error = `must be a number from 0 to ${PRICE_MAX}, or null for none`;
  return z.number({ error }).min(0, { error }).max(PRICE_MAX, { error }).nullable().meta({ description, example });
};

const branch = z
  .string({ error: 'must be the name of a branch' })
  .transform(shortBranch)
  .superRefine((value, context) => {
    const problem = textProblem(value, 1, NAME_LENGTH_MAX);
    if (problem) context.addIssue({ code: 'custom', message: problem.reason, params: { type: problem.type } });
  });

const renameConfidenceError = `must be a number from ${RULE_CONFIDENCE_MIN} to 1, or null: people decide`;
const renameConfidence = z
  .number({ error: renameConfidenceError })
  .min(RULE_CONFIDENCE_MIN, { error: renameConfidenceError })
  .max(1, { error: renameConfidenceError });

/** Each setting with its bounds. */
const SETTINGS = {
  default_branch: branch.meta({
    description: 'The branch that insights cover; overrides what the host and uploads say',
    example: 'main',
  }),
  flaky_detection_enabled: z.boolean({ error: 'must be true or false' }).meta({
    description: 'Whether executions may be judged flaky',
    example: true,
  }),
  auto_quarantine: z
    .enum(AUTO_QUARANTINE_MODES, { error: `must be one of ${AUTO_QUARANTINE_MODES.join(', ')}` })
    .meta({ description: 'Which tests are quarantined automatically', example: 'flaky' }),
  quarantine_limit: whole(1, QUARANTINE_LIMIT_MAX, ', or null for no limit')
    .nullable()
    .meta({ description: 'How many quarantines stop automatic ones; null: no limit', example: 20 }),
  quarantine_warning_days: whole(0, QUARANTINE_WARNING_DAYS_MAX).meta({
    description: 'How many days before its end a quarantine is announced to end; 0: never',
    example: 3,
  }),
  rerun_percent: whole(1, RERUN_PERCENT_MAX, ', or null for none').nullable().meta({
    description: 'How much longer test runners may take to run new and unhealthy tests again; null: not at all',
    example: null,
  }),
  test_owners: ownerRulesSchema.meta({
    description: 'Who owns tests. They win over CODEOWNERS; of several rules that match, the last counts',
    example: [{ file: '/src/cart/', owners: ['@acme/cart'] }],
  }),
  ci_minute_price: price('Money for a minute of CI, in the unit of your choice; null: no money is shown', 0.008),
  waiting_hour_price: price('Money for an hour in which an author waits, in the same unit; null: none', 80),
  event_retention_days: whole(1, EVENT_RETENTION_DAYS_MAX, ', or null for as long as executions').nullable().meta({
    description: 'For how many days events are kept; null: as long as executions. They never stay longer than these',
    example: 30,
  }),
  rename_confidence_min: renameConfidence.nullable().meta({
    description: 'From which confidence on proposed renames of tests are accepted; null: people decide',
    example: 0.95,
  }),
  execution_retention_days: whole(1, EVENT_RETENTION_DAYS_MAX, ', or null for as long as the installation')
    .nullable()
    .meta({
      description:
        'For how many days executions are kept, by whole months; null: as long as the installation does. Never longer than that',
      example: 30,
    }),
  forget_tests_after_days: whole(FORGET_TESTS_AFTER_DAYS_MIN, EVENT_RETENTION_DAYS_MAX, ', or null for never')
    .nullable()
    .meta({
      description: 'After how many days without a run a test is forgotten, unless it is quarantined; null: never',
      example: 180,
    }),
  host_page: hostPageSchema.nullable().meta({
    description: 'Where the repository is shown to people; null: as webhooks, identity tokens or uploads say',
    example: { kind: 'github', url: 'https://github.example.com/acme/shop' },
  }),
} as const;

/** The names of all settings. */
export const SETTING_NAMES = z.object(SETTINGS).keyof().options;

/** A change of some settings; what it leaves out stays as it is. */
export const settingsChangeSchema = z
  .object(SETTINGS)
  .partial()
  .refine((change) => Object.values(change).some((value) => value !== undefined), {
    error: `names no setting. Send at least one of ${Object.keys(SETTINGS).join(', ')}`,
  });
export type SettingsChange = z.infer<typeof settingsChangeSchema>;

/** The settings of a file that is applied (apply-file.ts). It may leave all of them out, and what is misspelt is refused. */
export const declaredSettingsShape = z
  .object({ ...SETTINGS, host_page: z.strictObject(hostPageSchema.shape).nullable() })
  .partial().shape;

/** The settings of a repository, as they are. */
export const settingsSchema = z.object({
  ...SETTINGS,
  default_branch: z
    .string()
    .nullable()
    .meta({ description: 'The branch that insights cover; null while it is not known', example: 'main' }),
});
export type Settings = z.infer<typeof settingsSchema>;

/** Settings that decide how executions are stored and judged when they arrive. */
type Judging = Pick<Settings, 'default_branch' | 'flaky_detection_enabled'>;

/** Whether stored executions follow the settings before until they are rebuilt. */
export const needsRebuild = (before: Judging, after: Judging): boolean =>
  (before.default_branch !== null && before.default_branch !== after.default_branch) ||
  before.flaky_detection_enabled !== after.flaky_detection_enabled;
