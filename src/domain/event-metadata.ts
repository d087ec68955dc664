/**
 * The shape of `metadata` by type of event. It holds the fields of the public interface and those that the service's
 * own sources add.
 *
 * Known fields are checked; a field that the source does not state is null. Unknown fields are kept as sent, because
 * producers learn new ones before this list does. A shape may gain fields with a default and never loses one, because
 * the log keeps what was written before.
 */
import { z } from 'zod';
import { REQUEST_LIMITS } from './limit-table.ts';
import { COMMENT_LENGTH_MAX, METADATA_BYTES_MAX, METADATA_DEPTH_MAX, TEST_NAME_LENGTH_MAX } from './limits.ts';
import { AUTO_QUARANTINE_MODES, QUARANTINE_SOURCES } from './quarantine-rules.ts';

const LIST_LENGTH_MAX = 1_000;

/** Any name; those of tests are the longest. */
const name = z.string().max(TEST_NAME_LENGTH_MAX);
const text = z.string().max(COMMENT_LENGTH_MAX);
const count = z.int().min(0);
const pullNumber = z.int().min(1);
const names = z.array(name).max(LIST_LENGTH_MAX);
const pullNumbers = z.array(pullNumber).max(LIST_LENGTH_MAX);
/** Items whose shape their source defines: checks, scopes, conditions. */
const items = z.array(z.unknown()).max(LIST_LENGTH_MAX);
const moment = z.iso.datetime({ offset: true });
/** With a zone, or in the time zone that a field beside it names. */
const zonedMoment = z.iso.datetime({ offset: true, local: true });
const maybe = <T extends z.ZodType>(type: T) => type.nullable().default(null);
const open = z.looseObject;

const maybeName = maybe(name);
const maybeText = maybe(text);
const maybeFlag = maybe(z.boolean());
const maybeCount = maybe(count);
const maybeMoment = maybe(moment);

/** Any action may have been taken by a rule of the merge queue's configuration. */
const action = <S extends z.ZodRawShape>(shape: S) => open({ ...shape, rule: maybeName });

const copyAction = action({ to: maybeName, pull_request_number: maybe(pullNumber), conflicts: maybeFlag });

/** Who did it: a user or an application. */
const actor = maybe(open({ type: maybeName, id: maybe(z.union([z.int(), name])), name: maybeName }));

/** Where a pull request is in a queue. `session_id` is the queue's id of one stay in it. */
const queuePlace = {
  queue_name: maybeName,
  branch: maybeName,
  partition_name: maybeName,
  position: maybeCount,
  queued_at: maybeMoment,
  priority_rule_name: maybeName,
  session_id: maybeName,
};

const batch = {
  batch_id: maybeName,
  batch_name: maybeName,
  train_car_id: maybeName,
  parent_batch_ids: maybe(names),
  previous_batch_id: maybeName,
  previous_batch_name: maybeName,
  scopes: maybe(items),
  all_scopes: maybe(items),
};

const speculativeCheck = open({
  number: maybe(pullNumber),
  in_place: maybeFlag,
  checks_conclusion: maybeName,
  checks_timed_out: maybeFlag,
  checks_started_at: maybeMoment,
  checks_ended_at: maybeMoment,
  unsuccessful_checks: items.default([]),
  pull_request_numbers: pullNumbers.default([]),
});
const queueChecks = { ...queuePlace, speculative_check_pull_request: maybe(speculativeCheck) };

const bisection = {
  queue_name: maybeName,
  branch: maybeName,
  partition_name: maybeName,
  priority_rule_name: maybeName,
  session_id: maybeName,
  pull_requests: pullNumbers.default([]),
  original_batch_pr_numbers: pullNumbers.default([]),
  batch_size_before_split: maybeCount,
  number_of_sub_batches: maybeCount,
  bisection_depth: maybeCount,
  is_top_level: maybeFlag,
  ...batch,
};

const pause = { queue_name: maybeName, reason: maybeText };

const freezeFields = {
  reason: maybeText,
  start: maybe(zonedMoment),
  end: maybe(zonedMoment),
  timezone: maybeName,
  matching_conditions: items.default([]),
};
const freezeAttributes = maybe(open({ ...freezeFields, exclude_conditions: items.default([]) }));
const freeze = { freeze_id: maybeName, ...freezeFields };

const autoQuarantineMode = {
  mode: maybe(z.enum(AUTO_QUARANTINE_MODES)),
  previous_mode: maybe(z.enum(AUTO_QUARANTINE_MODES)),
};
const autoQuarantineConfig = maybe(open({ ignore_broken_on_default_branch: maybeFlag }));

const command = open({
  command: maybeText,
  queue_name: maybeName,
  author: maybe(open({ login: maybeName, id: maybe(z.union([z.int(), name])), type: maybeName })),
  comment_id: maybe(z.int()),
  session_id: maybeName,
  command_trigger: maybeName,
  trigger_comment_url: maybeText,
});

/** What a quarantine is narrowed to, and until when and whose it is. */
const quarantineTerms = {
  pipeline_name: maybeName,
  job_name: maybeName,
  failure_ids: maybe(z.array(z.uuid()).max(LIST_LENGTH_MAX)),
  expires_at: maybeMoment,
  owner: maybeName,
  ticket_url: maybeText,
};

const quarantine = {
  quarantine_id: z.uuid(),
  test_id: maybe(z.uuid()),
  test_name: name,
  branch: maybeName,
  source: z.enum(QUARANTINE_SOURCES),
  health_status_at_event: maybeName,
  ...quarantineTerms,
};

/** In the order of the API's documentation. */
export const EVENT_METADATA = {
  'action.assign': action({ added: names.default([]), removed: names.default([]) }),
  'action.backport': copyAction,
  'action.close': action({ message: maybeText }),
  'action.comment': action({ message: maybeText }),
  'action.copy': copyAction,
  'action.delete_head_branch': action({ branch: maybeName }),
  'action.dequeue': action({ reason: maybeText }),
  'action.dismiss_reviews': action({ users: names.default([]), message: maybeText }),
  'action.edit': action({ draft: maybeFlag, changed: names.default([]) }),
  'action.vcs_actions': action({
    workflow: maybeName,
    inputs: z.record(name, z.union([text, z.number(), z.boolean()])).default({}),
  }),
  'action.label': action({ added: names.default([]), removed: names.default([]) }),
  'action.merge': action({ branch: maybeName, commit: maybeName }),
  'action.post_check': action({ conclusion: maybeName, title: maybeText, summary: maybeText }),
  'action.queue.batch_bisection_end': open({
    ...bisection,
    failed_pull_requests: pullNumbers.default([]),
    culprit_found: maybeFlag,
    culprit_pr_numbers: pullNumbers.default([]),
    confirmed_culprit_pr_numbers: maybe(pullNumbers),
    dropped_unverified_pr_numbers: maybe(pullNumbers),
    remaining_pr_numbers: pullNumbers.default([]),
    max_failure_resolution_reached: maybeFlag,
  }),
  'action.queue.batch_bisection_start': open({ ...bisection, reason: maybeText }),
  'action.queue.change': open({
    queue_name: maybeName,
    partition_name: maybeName,
    priority_rule_name: maybeName,
    size: maybeCount,
    running_checks: maybeCount,
  }),
  'action.queue.checks.change': open({ ...queueChecks, running_checks: maybeCount }),
  'action.queue.checks_end': open({
    ...queueChecks,
    ...batch,
    aborted: maybeFlag,
    abort_code: maybeName,
    abort_reason: maybeText,
    abort_status: maybeName,
    retry_attempt: maybeCount,
    max_retries: maybeCount,
  }),
  'action.queue.checks_not_started': open({ ...queuePlace, reason: maybeText }),
  'action.queue.checks_start': open({ ...queueChecks, ...batch, start_reason: maybeText }),
  'action.queue.conflict_deferred': open({
    ...queuePlace,
    reason: maybeText,
    blocking_pull_request_numbers: pullNumbers.default([]),
  }),
  'action.queue.enter': open(queuePlace),
  'action.queue.leave': open({
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
  'action.queue.merged': open({ ...queuePlace, commit: maybeName, merge_commit_sha: maybeName }),
  'action.rebase': action({ before: maybeName, after: maybeName }),
  'action.refresh': action({}),
  'action.request_reviews': action({ reviewers: names.default([]), team_reviewers: names.default([]) }),
  'action.review': action({ type: maybeName, review_type: maybeName, reviewer: maybeName, message: maybeText }),
  'action.squash': action({ before: maybeName, after: maybeName }),
  'action.update': action({ before: maybeName, after: maybeName }),
  'ci_insights.auto_quarantine.disabled': open({
    ...autoQuarantineMode,
    disabled_by: actor,
    disabled_at: maybeMoment,
    auto_quarantine_config_attributes: autoQuarantineConfig,
  }),
  'ci_insights.auto_quarantine.enabled': open({
    ...autoQuarantineMode,
    enabled_by: actor,
    enabled_at: maybeMoment,
    auto_quarantine_config_attributes: autoQuarantineConfig,
  }),
  'ci_insights.auto_quarantine.limit_reached': open({
    limit: maybeCount,
    open_quarantines: maybeCount,
    test_id: maybe(z.uuid()),
    test_name: maybeName,
    reason: maybeText,
  }),
  'ci_insights.auto_quarantine.modified': open({
    ...autoQuarantineMode,
    updated_by: actor,
    updated_at: maybeMoment,
    auto_quarantine_config_attributes_before: autoQuarantineConfig,
    auto_quarantine_config_attributes_after: autoQuarantineConfig,
  }),
  'ci_insights.job_retried': open({
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
  'command.dequeue': command,
  'command.queue': command,
  'product.disabled': open({ product: maybeName, disabled_by: actor, disabled_at: maybeMoment }),
  'product.enabled': open({ product: maybeName, enabled_by: actor, enabled_at: maybeMoment }),
  'queue.pause.create': open({ ...pause, created_by: actor }),
  'queue.pause.delete': open({ ...pause, deleted_by: actor }),
  'queue.pause.update': open({ ...pause, updated_by: actor }),
  'scheduled_freeze.create': open({
    ...freeze,
    scheduled_freeze_attributes: freezeAttributes,
    created_by: actor,
    created_at: maybeMoment,
  }),
  'scheduled_freeze.delete': open({
    ...freeze,
    scheduled_freeze_attributes: freezeAttributes,
    deleted_by: actor,
    deleted_at: maybeMoment,
  }),
  'scheduled_freeze.update': open({
    ...freeze,
    scheduled_freeze_attributes_before: freezeAttributes,
    scheduled_freeze_attributes_after: freezeAttributes,
    updated_by: actor,
    updated_at: maybeMoment,
  }),
  'test.dequarantined': open({
    ...quarantine,
    reason: maybeText,
    original_quarantine: maybe(
      open({ source: maybeName, reason: maybeText, branch: maybeName, created_at: maybeMoment }),
    ),
    dequarantined_at: maybeMoment,
    dequarantined_by: actor,
  }),
  'test.quarantine.expiring': open({ ...quarantine, reason: maybeText, quarantined_at: maybeMoment }),
  'test.quarantine.updated': open({
    ...quarantine,
    reason: maybeText,
    quarantine_attributes_before: maybe(open(quarantineTerms)),
    updated_by: actor,
    updated_at: maybeMoment,
  }),
  'test.quarantined': open({ ...quarantine, reason: text, quarantined_at: maybeMoment, quarantined_by: actor }),
} as const satisfies Record<string, z.ZodType>;

/** Why metadata is refused before its fields are looked at, or null. It takes bounded time and stack for any JSON. */
export function metadataRejection(metadata: object): string | null {
  if (isDeeper(metadata, METADATA_DEPTH_MAX)) return REQUEST_LIMITS.METADATA_DEPTH_MAX.sentence();
  const bytes = Buffer.byteLength(JSON.stringify(metadata));
  return bytes > METADATA_BYTES_MAX ? REQUEST_LIMITS.METADATA_BYTES_MAX.sentence(bytes) : null;
}

/** Goes down level by level: recursion would end at the stack's limit. */
function isDeeper(value: object, depthMax: number): boolean {
  let level: object[] = [value];
  for (let depth = 1; level.length > 0; depth++) {
    if (depth > depthMax) return true;
    level = level.flatMap((parent) =>
      Object.values(parent).filter((child): child is object => typeof child === 'object' && child !== null),
    );
  }
  return false;
}
