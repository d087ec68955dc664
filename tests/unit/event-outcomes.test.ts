/** The outcome of every type of event, as docs/api.md and the public interface promise it. */
import { expect, test } from 'bun:test';
import { EVENT_METADATA, EVENT_OUTCOMES, type EventOutcome } from '../../src/domain/event-metadata.ts';
import { EVENT_TYPES, type EventType, outcomeOf } from '../../src/domain/events.ts';

const check = (checks_conclusion: string | null) => ({ speculative_check_pull_request: { checks_conclusion } });
const by = <T>(field: string, values: readonly (readonly [T, EventOutcome])[]) =>
  values.map(([value, outcome]) => [{ [field]: value }, outcome] as const);
const COPIES = [
  [{ conflicts: true, pull_request_number: 13 }, 'failure'],
  [{ conflicts: true }, 'failure'],
  [{ conflicts: false, pull_request_number: 13 }, 'success'],
  [{ pull_request_number: 13 }, 'success'],
  [{ conflicts: false }, 'neutral'],
  [{}, 'neutral'],
] as const;
const ANY = { conclusion: 'failure', merged: false, conflicts: true, outcome: 'skipped_quota_exceeded', reason: 'r' };
const always = (outcome: EventOutcome) => [[{ reason: 'r' }, outcome] as const, [ANY, outcome] as const];
const CHECKED = ['failure', 'timed_out', 'cancelled', 'action_required', 'startup_failure', 'stale', 'error'] as const;
const failing = CHECKED.map((conclusion) => [conclusion, 'failure'] as const);

const OUTCOMES: Record<EventType, readonly (readonly [metadata: object, outcome: EventOutcome])[]> = {
  'action.assign': always('neutral'),
  'action.backport': COPIES,
  'action.close': always('neutral'),
  'action.comment': always('neutral'),
  'action.copy': COPIES,
  'action.delete_head_branch': always('neutral'),
  'action.dequeue': always('neutral'),
  'action.dismiss_reviews': always('neutral'),
  'action.edit': always('neutral'),
  'action.vcs_actions': always('neutral'),
  'action.label': always('neutral'),
  'action.merge': always('success'),
  'action.post_check': by('conclusion', [
    ...failing,
    ['pending', 'failure'],
    ['success', 'success'],
    ['neutral', 'neutral'],
    ['skipped', 'neutral'],
    ['', 'pending'],
    [null, 'pending'],
  ]),
  'action.queue.batch_bisection_end': [...always('neutral'), [{ culprit_found: true }, 'neutral']],
  'action.queue.batch_bisection_start': always('pending'),
  'action.queue.change': always('neutral'),
  'action.queue.checks.change': [...always('neutral'), [check('failure'), 'neutral']],
  'action.queue.checks_end': [
    ...failing.map(([conclusion, outcome]) => [check(conclusion), outcome] as const),
    [check('pending'), 'pending'],
    [check('success'), 'success'],
    [check('neutral'), 'neutral'],
    [check('skipped'), 'neutral'],
    [check(''), 'neutral'],
    [check(null), 'neutral'],
    [{ speculative_check_pull_request: null }, 'neutral'],
    [{}, 'neutral'],
  ],
  'action.queue.checks_not_started': always('failure'),
  'action.queue.checks_start': [...always('pending'), [check('success'), 'pending']],
  'action.queue.conflict_deferred': always('pending'),
  'action.queue.enter': always('pending'),
  'action.queue.leave': by('merged', [
    [true, 'success'],
    [false, 'failure'],
    [null, 'neutral'],
  ]),
  'action.queue.merged': always('success'),
  'action.rebase': always('neutral'),
  'action.refresh': always('neutral'),
  'action.request_reviews': always('neutral'),
  'action.review': by('review_type', [
    ['APPROVE', 'success'],
    ['REQUEST_CHANGES', 'failure'],
    ['COMMENT', 'neutral'],
    ['approve', 'neutral'],
    [null, 'neutral'],
  ]),
  'action.squash': always('neutral'),
  'action.update': always('neutral'),
  'ci_insights.auto_quarantine.disabled': always('neutral'),
  'ci_insights.auto_quarantine.enabled': always('neutral'),
  'ci_insights.auto_quarantine.limit_reached': always('failure'),
  'ci_insights.auto_quarantine.modified': always('neutral'),
  'ci_insights.job_retried': by('outcome', [
    ['skipped_quota_exceeded', 'failure'],
    ['retried', 'pending'],
    [null, 'pending'],
  ]),
  'ci_insights.results.conflict': always('failure'),
  'command.dequeue': always('neutral'),
  'command.queue': always('neutral'),
  'product.disabled': always('neutral'),
  'product.enabled': always('neutral'),
  'queue.pause.create': always('neutral'),
  'queue.pause.delete': always('neutral'),
  'queue.pause.update': always('neutral'),
  'repository.renamed': always('neutral'),
  'repository.settings.updated': always('neutral'),
  'scheduled_freeze.create': always('neutral'),
  'scheduled_freeze.delete': always('neutral'),
  'scheduled_freeze.update': always('neutral'),
  'test.dequarantined': always('neutral'),
  'test.quarantine.expiring': always('pending'),
  'test.quarantine.updated': always('neutral'),
  'test.quarantined': [...always('neutral'), [{ reason: 'r', health_status_at_event: 'broken' }, 'neutral']],
  'test.rename.undone': always('neutral'),
  'test.renamed': always('neutral'),
};

/** Fields that quarantines need, and others keep as they keep every field that they do not know. */
const REQUIRED = {
  quarantine_id: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6a',
  test_id: '01980f3e-5c1e-7b1c-8f5d-1f2e3d4c5b6b',
  test_name: 'a',
  source: 'manual',
};

/** A row of {@link OUTCOMES}, with the outcome that the rule gives. */
const found = (type: EventType) =>
  OUTCOMES[type].map(([sent]) => {
    const metadata = EVENT_METADATA[type].schema.parse({ ...REQUIRED, ...sent });
    return [sent, outcomeOf<EventType>({ type, metadata })] as const;
  });

test.each(EVENT_TYPES)('%s has the outcome that its metadata tells', (type) => {
  expect(found(type)).toEqual([...OUTCOMES[type]]);
});

test('every outcome is that of some event', () => {
  const seen = new Set(EVENT_TYPES.flatMap((type) => OUTCOMES[type].map(([, outcome]) => outcome)));
  expect([...seen].toSorted()).toEqual([...EVENT_OUTCOMES].toSorted());
});
