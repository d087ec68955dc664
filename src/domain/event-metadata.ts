/**
 * The shape of `metadata` by type of event, and the outcome that follows from it. A shape holds the fields of the public
 * interface and those that the service's own sources add.
 *
 * Known fields are checked; a field that the source does not state is null. Unknown fields are kept as sent, because
 * producers learn new ones before this list does. A shape may gain fields with a default and never loses one, because
 * the log keeps what was written before.
 */
import { z } from 'zod';
import {
  action,
  actor,
  autoQuarantineConfig,
  autoQuarantineMode,
  batch,
  bisection,
  command,
  copyAction,
  freeze,
  freezeAttributes,
  items,
  maybe,
  maybeCount,
  maybeFlag,
  maybeMoment,
  maybeName,
  maybeText,
  name,
  names,
  open,
  pause,
  pullNumbers,
  quarantine,
  quarantineTerms,
  queueChecks,
  queuePlace,
  text,
} from './event-fields.ts';
import { foreignRecord } from './foreign-record.ts';

/**
 * How what an event describes ended: `success` and `failure` are said of what has ended, `pending` of what another event
 * will end, `neutral` of the rest.
 */
export const EVENT_OUTCOMES = ['success', 'failure', 'pending', 'neutral'] as const;
export type EventOutcome = (typeof EVENT_OUTCOMES)[number];

const always = (outcome: EventOutcome) => (): EventOutcome => outcome;

/** A type of event. Without a rule, it is neutral. */
const event = <S extends z.ZodType>(
  schema: S,
  outcome: (metadata: z.output<S>) => EventOutcome = always('neutral'),
) => ({ schema, outcome });

const endOfCheck = (conclusion: string): EventOutcome => {
  if (conclusion === 'success') return 'success';
  return conclusion === 'neutral' || conclusion === 'skipped' ? 'neutral' : 'failure';
};

const reviewOutcome = (reviewType: string | null): EventOutcome => {
  if (reviewType === 'APPROVE') return 'success';
  return reviewType === 'REQUEST_CHANGES' ? 'failure' : 'neutral';
};

const copy = event(copyAction, ({ conflicts, pull_request_number }) => {
  if (conflicts) return 'failure';
  return pull_request_number === null ? 'neutral' : 'success';
});

/** The test that continues with its name before, and the new name with the id that it alone would have. */
const renamedTest = {
  test_id: maybe(z.uuid()),
  test_name: maybeName,
  new_name: maybeName,
  new_test_id: maybe(z.uuid()),
};

/** In the order of the API's documentation. */
export const EVENT_METADATA = {
  'action.assign': event(action({ added: names.default([]), removed: names.default([]) })),
  'action.backport': copy,
  'action.close': event(action({ message: maybeText })),
  'action.comment': event(action({ message: maybeText })),
  'action.copy': copy,
  'action.delete_head_branch': event(action({ branch: maybeName })),
  'action.dequeue': event(action({ reason: maybeText })),
  'action.dismiss_reviews': event(action({ users: names.default([]), message: maybeText })),
  'action.edit': event(action({ draft: maybeFlag, changed: names.default([]) })),
  'action.vcs_actions': event(
    action({
      workflow: maybeName,
      inputs: foreignRecord(name, z.union([text, z.number(), z.boolean()])).default({}),
    }),
  ),
  'action.label': event(action({ added: names.default([]), removed: names.default([]) })),
  'action.merge': event(action({ branch: maybeName, commit: maybeName }), always('success')),
  'action.post_check': event(
    action({ conclusion: maybeName, title: maybeText, summary: maybeText }),
    ({ conclusion }) => (conclusion ? endOfCheck(conclusion) : 'pending'),
  ),
  'action.queue.batch_bisection_end': event(
    open({
      ...bisection,
      failed_pull_requests: pullNumbers.default([]),
      culprit_found: maybeFlag,
      culprit_pr_numbers: pullNumbers.default([]),
      confirmed_culprit_pr_numbers: maybe(pullNumbers),
      dropped_unverified_pr_numbers: maybe(pullNumbers),
      remaining_pr_numbers: pullNumbers.default([]),
      max_failure_resolution_reached: maybeFlag,
    }),
  ),
  'action.queue.batch_bisection_start': event(open({ ...bisection, reason: maybeText }), always('pending')),
  'action.queue.change': event(
    open({
      queue_name: maybeName,
      partition_name: maybeName,
      priority_rule_name: maybeName,
      size: maybeCount,
      running_checks: maybeCount,
    }),
  ),
  'action.queue.checks.change': event(open({ ...queueChecks, running_checks: maybeCount })),
  'action.queue.checks_end': event(
    open({
      ...queueChecks,
      ...batch,
      aborted: maybeFlag,
      abort_code: maybeName,
      abort_reason: maybeText,
      abort_status: maybeName,
      retry_attempt: maybeCount,
      max_retries: maybeCount,
    }),
    ({ speculative_check_pull_request: check }) => {
      const conclusion = check?.checks_conclusion || 'neutral';
      return conclusion === 'pending' ? 'pending' : endOfCheck(conclusion);
    },
  ),
  'action.queue.checks_not_started': event(open({ ...queuePlace, reason: maybeText }), always('failure')),
  'action.queue.checks_start': event(open({ ...queueChecks, ...batch, start_reason: maybeText }), always('pending')),
  'action.queue.conflict_deferred': event(
    open({
      ...queuePlace,
      reason: maybeText,
      blocking_pull_request_numbers: pullNumbers.default([]),
    }),
    always('pending'),
  ),
  'action.queue.enter': event(open(queuePlace), always('pending')),
  'action.queue.leave': event(
    open({
      ...queuePlace,
      reason: maybeText,
      merged: maybeFlag,
      seconds_waiting_for_schedule: maybe(z.number().min(0)),
      seconds_waiting_for_freeze: maybe(z.number().min(0)),
      dequeue_code: maybeName,
      conditions_evaluation: maybe(open({})),
      checks: items.default([]),
      unsuccessful_checks: items.default([]),
      pull_request_head_sha: maybeName,
      batch_id: maybeName,
      scopes: maybe(items),
      all_scopes: maybe(items),
    }),
    ({ merged }) => (merged === null ? 'neutral' : merged ? 'success' : 'failure'),
  ),
  'action.queue.merged': event(
    open({ ...queuePlace, commit: maybeName, merge_commit_sha: maybeName }),
    always('success'),
  ),
  'action.rebase': event(action({ before: maybeName, after: maybeName })),
  'action.refresh': event(action({})),
  'action.request_reviews': event(action({ reviewers: names.default([]), team_reviewers: names.default([]) })),
  'action.review': event(
    action({ type: maybeName, review_type: maybeName, reviewer: maybeName, message: maybeText }),
    ({ review_type }) => reviewOutcome(review_type),
  ),
  'action.squash': event(action({ before: maybeName, after: maybeName })),
  'action.update': event(action({ before: maybeName, after: maybeName })),
  'ci_insights.auto_quarantine.disabled': event(
    open({
      ...autoQuarantineMode,
      disabled_by: actor,
      disabled_at: maybeMoment,
      auto_quarantine_config_attributes: autoQuarantineConfig,
    }),
  ),
  'ci_insights.auto_quarantine.enabled': event(
    open({
      ...autoQuarantineMode,
      enabled_by: actor,
      enabled_at: maybeMoment,
      auto_quarantine_config_attributes: autoQuarantineConfig,
    }),
  ),
  'ci_insights.auto_quarantine.limit_reached': event(
    open({
      limit: maybeCount,
      open_quarantines: maybeCount,
      test_id: maybe(z.uuid()),
      test_name: maybeName,
      reason: maybeText,
    }),
    always('failure'),
  ),
  'ci_insights.auto_quarantine.modified': event(
    open({
      ...autoQuarantineMode,
      updated_by: actor,
      updated_at: maybeMoment,
      auto_quarantine_config_attributes_before: autoQuarantineConfig,
      auto_quarantine_config_attributes_after: autoQuarantineConfig,
    }),
  ),
  'ci_insights.job_retried': event(
    open({
      pipeline_name: maybeName,
      job_name: maybeName,
      run_id: maybeName,
      run_attempt: maybe(z.int().min(1)),
      commit: maybeName,
      branch: maybeName,
      rule_id: maybe(z.union([z.int(), name])),
      rule_name: maybeName,
      max_retry: maybeCount,
      retry_mode: maybeName,
      retry_attempt: maybeCount,
      condition_matches: items.default([]),
      outcome: maybeName,
      workflow_run_id: maybe(z.union([z.int(), name])),
      job_url: maybeText,
    }),
    ({ outcome }) => (outcome === 'skipped_quota_exceeded' ? 'failure' : 'pending'),
  ),
  'ci_insights.results.conflict': event(
    open({
      pipeline_name: maybeName,
      job_name: maybeName,
      run_id: maybeName,
      run_attempt: maybe(z.int().min(1)),
      commit: maybeName,
      branch: maybeName,
      format: maybeName,
      upload_id: maybe(z.guid()),
    }),
    always('failure'),
  ),
  'command.dequeue': event(command),
  'command.queue': event(command),
  'product.disabled': event(open({ product: maybeName, disabled_by: actor, disabled_at: maybeMoment })),
  'product.enabled': event(open({ product: maybeName, enabled_by: actor, enabled_at: maybeMoment })),
  'queue.pause.create': event(open({ ...pause, created_by: actor })),
  'queue.pause.delete': event(open({ ...pause, deleted_by: actor })),
  'queue.pause.update': event(open({ ...pause, updated_by: actor })),
  'repository.renamed': event(
    open({ before: maybe(open({})), after: maybe(open({})), renamed_by: actor, renamed_at: maybeMoment }),
  ),
  'repository.settings.updated': event(
    open({ before: maybe(open({})), after: maybe(open({})), updated_by: actor, updated_at: maybeMoment }),
  ),
  'scheduled_freeze.create': event(
    open({
      ...freeze,
      scheduled_freeze_attributes: freezeAttributes,
      created_by: actor,
      created_at: maybeMoment,
    }),
  ),
  'scheduled_freeze.delete': event(
    open({
      ...freeze,
      scheduled_freeze_attributes: freezeAttributes,
      deleted_by: actor,
      deleted_at: maybeMoment,
    }),
  ),
  'scheduled_freeze.update': event(
    open({
      ...freeze,
      scheduled_freeze_attributes_before: freezeAttributes,
      scheduled_freeze_attributes_after: freezeAttributes,
      updated_by: actor,
      updated_at: maybeMoment,
    }),
  ),
  'test.dequarantined': event(
    open({
      ...quarantine,
      reason: maybeText,
      original_quarantine: maybe(
        open({ source: maybeName, reason: maybeText, branch: maybeName, created_at: maybeMoment }),
      ),
      dequarantined_at: maybeMoment,
      dequarantined_by: actor,
    }),
  ),
  'test.quarantine.expiring': event(
    open({ ...quarantine, reason: maybeText, quarantined_at: maybeMoment }),
    always('pending'),
  ),
  'test.quarantine.updated': event(
    open({
      ...quarantine,
      reason: maybeText,
      quarantine_attributes_before: maybe(open(quarantineTerms)),
      updated_by: actor,
      updated_at: maybeMoment,
    }),
  ),
  'test.quarantined': event(open({ ...quarantine, reason: text, quarantined_at: maybeMoment, quarantined_by: actor })),
  'test.rename.undone': event(open({ ...renamedTest, undone_by: actor, undone_at: maybeMoment, reason: maybeText })),
  'test.renamed': event(
    open({
      ...renamedTest,
      reasons: names.default([]),
      confidence: maybe(z.number().min(0).max(1)),
      renamed_by: actor,
      renamed_at: maybeMoment,
    }),
  ),
} as const satisfies Record<string, { schema: z.ZodType; outcome: (metadata: never) => EventOutcome }>;
