/** Fields that the metadata of several types of events share; event-metadata.ts has the types. */
import { z } from 'zod';
import { foreignRecord } from './foreign-record.ts';
import { COMMENT_LENGTH_MAX, TEST_NAME_LENGTH_MAX } from './limits.ts';
import { AUTO_QUARANTINE_MODES, QUARANTINE_SOURCES } from './quarantine-rules.ts';

const LIST_LENGTH_MAX = 1_000;

/** Any name; those of tests are the longest. */
export const name = z.string().max(TEST_NAME_LENGTH_MAX);
export const text = z.string().max(COMMENT_LENGTH_MAX);
const count = z.int().min(0);
const pullNumber = z.int().min(1);
export const names = z.array(name).max(LIST_LENGTH_MAX);
export const pullNumbers = z.array(pullNumber).max(LIST_LENGTH_MAX);
/** Items whose shape their source defines: checks, scopes, conditions. */
export const items = z.array(z.unknown()).max(LIST_LENGTH_MAX);
const moment = z.iso.datetime({ offset: true });
/** With a zone, or in the time zone that a field beside it names. */
const zonedMoment = z.iso.datetime({ offset: true, local: true });
export const maybe = <T extends z.ZodType>(type: T) => type.nullable().default(null);
export const open = z.looseObject;

export const maybeName = maybe(name);
export const maybeText = maybe(text);
export const maybeFlag = maybe(z.boolean());
export const maybeCount = maybe(count);
export const maybeMoment = maybe(moment);

/** Any action may have been taken by a rule of the merge queue's configuration. */
export const action = <S extends z.ZodRawShape>(shape: S) => open({ ...shape, rule: maybeName });

export const copyAction = action({ to: maybeName, pull_request_number: maybe(pullNumber), conflicts: maybeFlag });

/** Who did it: a user or an application. */
export const actor = maybe(open({ type: maybeName, id: maybe(z.union([z.int(), name])), name: maybeName }));

/** Where a pull request is in a queue. `session_id` is the queue's id of one stay in it. */
export const queuePlace = {
  queue_name: maybeName,
  branch: maybeName,
  partition_name: maybeName,
  position: maybeCount,
  queued_at: maybeMoment,
  priority_rule_name: maybeName,
  session_id: maybeName,
};

export const batch = {
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
export const queueChecks = { ...queuePlace, speculative_check_pull_request: maybe(speculativeCheck) };

export const bisection = {
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

export const pause = { queue_name: maybeName, reason: maybeText };

const freezeFields = {
  reason: maybeText,
  start: maybe(zonedMoment),
  end: maybe(zonedMoment),
  timezone: maybeName,
  matching_conditions: items.default([]),
};
export const freezeAttributes = maybe(open({ ...freezeFields, exclude_conditions: items.default([]) }));
export const freeze = { freeze_id: maybeName, ...freezeFields };

export const autoQuarantineMode = {
  mode: maybe(z.enum(AUTO_QUARANTINE_MODES)),
  previous_mode: maybe(z.enum(AUTO_QUARANTINE_MODES)),
};
export const autoQuarantineConfig = maybe(open({ ignore_broken_on_default_branch: maybeFlag }));

export const command = open({
  command: maybeText,
  queue_name: maybeName,
  author: maybe(open({ login: maybeName, id: maybe(z.union([z.int(), name])), type: maybeName })),
  comment_id: maybe(z.int()),
  session_id: maybeName,
  command_trigger: maybeName,
  trigger_comment_url: maybeText,
});

/** The scope of a quarantine, when it ends, and who owns it. */
export const quarantineTerms = {
  pipeline_name: maybeName,
  job_name: maybeName,
  axes: maybe(foreignRecord(name, names)),
  failure_ids: maybe(z.array(z.uuid()).max(LIST_LENGTH_MAX)),
  cause_id: maybe(z.uuid()),
  expires_at: maybeMoment,
  owner: maybeName,
  ticket_url: maybeText,
};

export const quarantine = {
  quarantine_id: z.uuid(),
  test_id: maybe(z.uuid()),
  test_name: name,
  branch: maybeName,
  source: z.enum(QUARANTINE_SOURCES),
  health_status_at_event: maybeName,
  ...quarantineTerms,
};
