/** Metadata of every type of event in the shape of the public interface, with every field that it documents. */
import type { EventType } from '../../src/domain/events.ts';

const AT = '2026-11-21T09:30:00Z';
const LATER = '2026-11-21T10:30:00.123456+00:00';
const SHA = '2222222222222222222222222222222222222222';
const SESSION = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a';
const BATCH = '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6b';
const USER = { type: 'user', id: 583231, name: 'octocat' };
const APPLICATION = { type: 'application', id: SESSION, name: 'release bot' };

const CHECK = { name: 'unit', state: 'failure', url: 'https://ci.acme.example/1', description: null };
const CONDITIONS = {
  match: false,
  label: 'all of',
  subconditions: [
    { match: true, label: 'base = main', subconditions: [] },
    {
      match: false,
      label: 'any of',
      subconditions: [{ match: false, label: 'check-success = unit', subconditions: [], evaluations: [{ pull: 7 }] }],
    },
  ],
};

const place = {
  queue_name: 'default',
  branch: 'main',
  queued_at: AT,
  priority_rule_name: 'hotfix',
  session_id: SESSION,
};
const checks = {
  ...place,
  speculative_check_pull_request: {
    number: 12,
    in_place: false,
    checks_timed_out: false,
    checks_conclusion: 'pending',
    checks_started_at: AT,
    checks_ended_at: null,
    unsuccessful_checks: [CHECK],
    pull_request_numbers: [7, 8],
  },
  batch_id: BATCH,
  train_car_id: SESSION,
  batch_name: 'main-12',
  scopes: ['backend', 'frontend'],
  parent_batch_ids: [SESSION],
  previous_batch_id: null,
  previous_batch_name: 'main-11',
  all_scopes: ['backend', 'frontend', 'docs'],
};
const bisection = {
  queue_name: 'default',
  priority_rule_name: null,
  original_batch_pr_numbers: [7, 8, 9, 10],
  batch_size_before_split: 4,
  number_of_sub_batches: 2,
  bisection_depth: 1,
  is_top_level: false,
  session_id: SESSION,
  batch_id: BATCH,
};
const freeze = {
  reason: 'the release',
  start: '2026-11-21T18:00:00',
  end: null,
  timezone: 'Europe/Paris',
  matching_conditions: ['base = main', { or: ['label = frozen', 'author = octocat'] }],
  exclude_conditions: ['label = hotfix'],
};
const terms = {
  pipeline_name: 'CI',
  job_name: 'unit',
  failure_ids: ['3f1a8b52-90c4-5d27-8f0e-6b1d2c3e4f50'],
  expires_at: LATER,
  owner: 'team-checkout',
  ticket_url: 'https://tickets.acme.example/SHOP-1234',
};
const config = { ignore_broken_on_default_branch: true };
const command = {
  author: { login: 'octocat', id: 583231, type: 'User', avatar_url: 'https://avatars.acme.example/1' },
  comment_id: 42,
  session_id: SESSION,
  command_trigger: 'comment',
  trigger_comment_url: 'https://github.com/acme/shop/pull/7#issuecomment-42',
};
const copy = { to: 'release/1.x', pull_request_number: 13, conflicts: false };

export const PUBLIC_METADATA: Readonly<Record<EventType, Record<string, unknown>>> = {
  'action.assign': { added: ['octocat'], removed: ['hubot'] },
  'action.backport': copy,
  'action.close': { message: 'stale' },
  'action.comment': { message: 'thanks' },
  'action.copy': copy,
  'action.delete_head_branch': { branch: 'round-totals' },
  'action.dequeue': {},
  'action.dismiss_reviews': { users: ['octocat'] },
  'action.edit': { draft: true },
  'action.vcs_actions': { workflow: 'ci.yml', inputs: { name: 'x', times: 3, dry: true } },
  'action.label': { added: ['bug'], removed: [] },
  'action.merge': { branch: 'main' },
  'action.post_check': { conclusion: null, title: 'Summary', summary: 'All is well' },
  'action.queue.batch_bisection_end': {
    ...bisection,
    culprit_found: true,
    culprit_pr_numbers: [9],
    confirmed_culprit_pr_numbers: [9],
    dropped_unverified_pr_numbers: null,
    remaining_pr_numbers: [7, 8],
    max_failure_resolution_reached: false,
  },
  'action.queue.batch_bisection_start': bisection,
  'action.queue.change': { queue_name: 'default', priority_rule_name: null, size: 4 },
  'action.queue.checks.change': { queue_name: 'default', running_checks: 2 },
  'action.queue.checks_end': {
    ...checks,
    aborted: true,
    abort_code: 'PR_DEQUEUED',
    abort_reason: 'the pull request left the queue',
    abort_status: 'REEMBARKED',
    retry_attempt: 1,
    max_retries: 3,
  },
  'action.queue.checks_not_started': { ...place, reason: 'conflict' },
  'action.queue.checks_start': { ...checks, start_reason: 'the batch is full' },
  'action.queue.conflict_deferred': { ...place, reason: 'conflicts', blocking_pull_request_numbers: [8] },
  'action.queue.enter': { ...place, partition_name: 'backend' },
  'action.queue.leave': {
    ...place,
    reason: 'checks failed',
    merged: false,
    seconds_waiting_for_schedule: 1.5,
    seconds_waiting_for_freeze: 0,
    conditions_evaluation: CONDITIONS,
    checks: [CHECK, { ...CHECK, name: 'lint', state: 'success' }],
    unsuccessful_checks: [CHECK],
    pull_request_head_sha: SHA,
    dequeue_code: 'CHECKS_FAILED',
    batch_id: BATCH,
    scopes: ['backend'],
    all_scopes: null,
  },
  'action.queue.merged': { ...place, merge_commit_sha: SHA },
  'action.rebase': {},
  'action.refresh': {},
  'action.request_reviews': { reviewers: ['octocat'], team_reviewers: ['core'] },
  'action.review': { review_type: 'APPROVE', reviewer: 'octocat', message: null },
  'action.squash': {},
  'action.update': {},
  'ci_insights.auto_quarantine.disabled': {
    disabled_by: USER,
    disabled_at: AT,
    auto_quarantine_config_attributes: config,
  },
  'ci_insights.auto_quarantine.enabled': {
    enabled_by: APPLICATION,
    enabled_at: AT,
    auto_quarantine_config_attributes: config,
  },
  'ci_insights.auto_quarantine.limit_reached': {
    limit: 20,
    open_quarantines: 21,
    test_id: 'd3f3921d-97a1-5584-81a9-8aa17697fc34',
    test_name: 'Cart > totals',
    reason: 'flaky on two commits',
  },
  'ci_insights.auto_quarantine.modified': {
    updated_by: USER,
    updated_at: LATER,
    auto_quarantine_config_attributes_before: config,
    auto_quarantine_config_attributes_after: { ignore_broken_on_default_branch: false },
  },
  'ci_insights.job_retried': {
    rule_id: SESSION,
    rule_name: 'network',
    max_retry: 3,
    retry_mode: 'job',
    retry_attempt: 1,
    condition_matches: [{ condition: 'log ~= timeout', match: true }],
    outcome: 'retried',
    workflow_run_id: 9_000_000_001,
    job_url: 'https://ci.acme.example/jobs/1',
  },
  'ci_insights.results.conflict': {
    pipeline_name: 'CI',
    job_name: 'unit',
    run_id: '1001',
    run_attempt: 1,
    commit: 'c0ffee',
    branch: 'main',
    format: 'junit',
    upload_id: SESSION,
  },
  'command.dequeue': { ...command, session_id: null, command_trigger: null, trigger_comment_url: null },
  'command.queue': command,
  'product.disabled': { product: 'ci_insights', disabled_by: USER, disabled_at: AT },
  'product.enabled': { product: 'ci_insights', enabled_by: APPLICATION, enabled_at: AT },
  'queue.pause.create': { reason: 'the release', created_by: USER },
  'queue.pause.delete': { deleted_by: APPLICATION },
  'queue.pause.update': { reason: 'still the release', updated_by: USER },
  'repository.renamed': {
    before: { owner: 'acme', name: 'store' },
    after: { owner: 'acme', name: 'shop' },
    renamed_by: USER,
    renamed_at: AT,
  },
  'repository.settings.updated': {
    before: { default_branch: 'master' },
    after: { default_branch: 'main' },
    updated_by: USER,
    updated_at: AT,
  },
  'scheduled_freeze.create': { scheduled_freeze_attributes: freeze, created_by: USER, created_at: AT },
  'scheduled_freeze.delete': {
    scheduled_freeze_attributes: freeze,
    reason: 'no longer needed',
    deleted_by: USER,
    deleted_at: AT,
  },
  'scheduled_freeze.update': {
    scheduled_freeze_attributes_before: freeze,
    scheduled_freeze_attributes_after: { ...freeze, end: '2026-11-22T08:00:00' },
    updated_by: APPLICATION,
    updated_at: LATER,
  },
  'test.dequarantined': {
    quarantine_id: SESSION,
    test_name: 'Cart > totals',
    source: 'auto',
    original_quarantine: { source: 'auto', reason: 'flaky on two commits', branch: null, created_at: AT },
    health_status_at_event: 'healthy',
    dequarantined_at: LATER,
    dequarantined_by: null,
  },
  'test.quarantine.expiring': {
    quarantine_id: SESSION,
    test_name: 'Cart > totals',
    source: 'manual',
    ...terms,
    quarantined_at: AT,
  },
  'test.quarantine.updated': {
    quarantine_id: SESSION,
    test_name: 'Cart > totals',
    source: 'manual',
    ...terms,
    quarantine_attributes_before: { ...terms, expires_at: AT },
    updated_by: USER,
    updated_at: LATER,
  },
  'test.quarantined': {
    quarantine_id: SESSION,
    test_id: 'd3f3921d-97a1-5584-81a9-8aa17697fc34',
    test_name: 'Cart > totals',
    source: 'manual',
    reason: 'looking into it',
    branch: 'main',
    quarantined_at: AT,
    health_status_at_event: 'flaky',
    quarantined_by: USER,
  },
};
