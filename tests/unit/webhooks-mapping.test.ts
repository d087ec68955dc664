/** The events that each kind of delivery makes, with their metadata. */
import { describe, expect, test } from 'bun:test';
import { jobOf } from '../../src/hosts/webhooks/job.ts';
import type { JobEvent } from '../../src/queue/pr-events.ts';
import { GITHUB, MERGED, payloadOf } from '../support/webhooks.ts';

/** The job of a payload, or the reason why there is none. */
const read = (event: string, payload: unknown, id = 'd1') => jobOf(GITHUB, { id, event, payload, bodyHash: id });

const eventsOf = (event: string, payload: unknown): JobEvent[] => {
  const { job, reason } = read(event, payload);
  if (!job) throw new Error(`ignored: ${reason}`);
  return job.events;
};

describe('metadata', () => {
  const PULL = { number: 2 };
  const user = { id: 1, login: 'mona' };
  test.each([
    ['assigned', 'action.assign', { assignee: user }, { added: ['mona'], removed: [], rule: null }],
    ['assigned', 'action.assign', { assignee: null }, { added: [], removed: [], rule: null }],
    ['unassigned', 'action.assign', { assignee: user }, { added: [], removed: ['mona'], rule: null }],
    ['labeled', 'action.label', {}, { added: ['bug'], removed: [], rule: null }],
    ['unlabeled', 'action.label', {}, { added: [], removed: ['bug'], rule: null }],
    ['closed', 'action.close', {}, { message: null, rule: null }],
    [
      'closed',
      'action.merge',
      { pull_request: MERGED },
      { branch: 'master', commit: MERGED.merge_commit_sha, rule: null },
    ],
    [
      'review_requested',
      'action.request_reviews',
      { requested_reviewer: user },
      { reviewers: ['mona'], team_reviewers: [], rule: null },
    ],
    [
      'review_requested',
      'action.request_reviews',
      { requested_reviewer: undefined, requested_team: { id: 1, name: 'The Team', slug: 'the-team' } },
      { reviewers: [], team_reviewers: ['the-team'], rule: null },
    ],
    ['converted_to_draft', 'action.edit', {}, { draft: true, changed: ['draft'], rule: null }],
    ['ready_for_review', 'action.edit', {}, { draft: false, changed: ['draft'], rule: null }],
    [
      'opened',
      'action.edit',
      { action: 'edited', changes: { title: { from: 'old' }, base: { ref: { from: 'main' } } } },
      { draft: null, changed: ['title', 'base'], rule: null },
    ],
    ['synchronize', 'action.update', { before: 'b1', after: 'a1' }, { before: 'b1', after: 'a1', rule: null }],
  ])('pull_request %s → %s', (action, type, changes, metadata) => {
    const events = eventsOf('pull_request', payloadOf('pull_request', action, changes));
    expect(events).toEqual([
      {
        key: 'github:d1:0',
        type,
        trigger: '@Codertocat',
        pull_request: PULL.number,
        base_ref: 'master',
        metadata,
      },
    ]);
  });

  const NOWHERE = { queue_name: null, partition_name: null, position: null, queued_at: null, session_id: null };
  const LEFT = { ...NOWHERE, branch: 'master', seconds_waiting_for_schedule: null, seconds_waiting_for_freeze: null };
  const queue = (action: string, changes: object = {}) =>
    eventsOf('pull_request', payloadOf('pull_request', 'opened', { action, ...changes })).map(({ type, metadata }) => ({
      type,
      metadata,
    }));

  test('pull_request enqueued → action.queue.enter', () => {
    expect(queue('enqueued')).toMatchObject([
      { type: 'action.queue.enter', metadata: { ...NOWHERE, branch: 'master' } },
    ]);
  });

  test.each([
    ['CI_FAILURE', false],
    ['MANUAL', false],
    ['ALREADY_MERGED', true],
    ['SOMETHING_NEW', false],
  ])('pull_request dequeued for %s → action.queue.leave alone, merged: %p', (reason, isMerged) => {
    expect(queue('dequeued', { reason })).toMatchObject([
      { type: 'action.queue.leave', metadata: { ...LEFT, reason, merged: isMerged } },
    ]);
  });

  test('pull_request dequeued without a reason does not say whether it was merged', () => {
    expect(queue('dequeued')).toMatchObject([
      { type: 'action.queue.leave', metadata: { ...LEFT, reason: null, merged: null } },
    ]);
  });

  test('pull_request dequeued because the queue merged it → action.queue.leave and action.queue.merged, under two keys', () => {
    const payload = payloadOf('pull_request', 'opened', { action: 'dequeued', reason: 'MERGE', pull_request: MERGED });
    expect(eventsOf('pull_request', payload).map(({ key, type, metadata }) => ({ key, type, metadata }))).toMatchObject(
      [
        { key: 'github:d1:0', type: 'action.queue.leave', metadata: { ...LEFT, reason: 'MERGE', merged: true } },
        {
          key: 'github:d1:1',
          type: 'action.queue.merged',
          metadata: {
            ...NOWHERE,
            branch: 'master',
            commit: MERGED.merge_commit_sha,
            merge_commit_sha: MERGED.merge_commit_sha,
          },
        },
      ],
    );
  });

  test('pull_request_review submitted → action.review', () => {
    const payload = payloadOf('pull_request_review', 'submitted', { review: { state: 'APPROVED', body: 'Fine.' } });
    expect(eventsOf('pull_request_review', payload)).toMatchObject([
      {
        key: 'github:d1:0',
        type: 'action.review',
        trigger: '@Codertocat',
        pull_request: 2,
        base_ref: 'master',
        metadata: { type: 'approved', review_type: 'APPROVE', reviewer: 'Codertocat', message: 'Fine.', rule: null },
      },
    ]);
  });

  test('pull_request_review dismissed → action.dismiss_reviews, triggered by the sender', () => {
    const payload = payloadOf('pull_request_review', 'dismissed', { review: { user }, sender: { login: 'owner' } });
    expect(eventsOf('pull_request_review', payload)).toMatchObject([
      { type: 'action.dismiss_reviews', trigger: '@owner', metadata: { users: ['mona'], message: null, rule: null } },
    ]);
  });

  const comment = (body: string, action = 'created') =>
    payloadOf('issue_comment', 'created', {
      action,
      issue: { number: 7, pull_request: { url: 'x' } },
      comment: { id: 5, body },
    });

  test('a comment with a command → command.queue and command.dequeue', () => {
    expect(eventsOf('issue_comment', comment('@Mergifyio queue hotfix\nthanks'))).toMatchObject([
      {
        key: 'github:d1:0',
        type: 'command.queue',
        trigger: '@Codertocat',
        pull_request: 7,
        base_ref: null,
        metadata: { command: '@Mergifyio queue hotfix', queue_name: 'hotfix', comment_id: 5 },
      },
    ]);
    expect(eventsOf('issue_comment', comment('@mergify dequeue'))).toMatchObject([
      { type: 'command.dequeue', metadata: { command: '@mergify dequeue', queue_name: null, comment_id: 5 } },
    ]);
  });

  test.each([
    ['of another text', comment('hello'), 'has no queue command'],
    ['that is edited', comment('@mergifyio queue', 'edited'), 'the action edited'],
    [
      'on an issue',
      payloadOf('issue_comment', 'created', { comment: { body: '@mergifyio queue' } }),
      'Comments on issues make no event.',
    ],
  ])('a comment %s is ignored', (_, payload, reason) => {
    expect(read('issue_comment', payload)).toEqual({ job: null, reason: expect.stringContaining(reason) });
  });

  test('a deleted branch is left to the worker to look up, and a deleted tag is ignored', () => {
    const payload = payloadOf('delete', undefined, { ref_type: 'branch', ref: 'feat/x' });
    const { job, reason } = read('delete', payload);
    expect(reason).toContain('only if a merged pull request came from it');
    expect(job).toMatchObject({
      events: [],
      pull_requests: [],
      deleted_branches: [{ key: 'github:d1:0', branch: 'feat/x', trigger: '@Codertocat' }],
    });
    expect(read('delete', payloadOf('delete', undefined))).toEqual({
      job: null,
      reason: 'The deletion of a tag makes no event.',
    });
  });
});

describe('a retried job', () => {
  const job = (action: string, run_attempt: number | undefined) =>
    payloadOf('workflow_job', 'queued', { action, workflow_job: { run_attempt } });

  test('is one event, reported when it is queued and when it begins', () => {
    const told = ['queued', 'in_progress'].map((action) => eventsOf('workflow_job', job(action, 2)));
    expect(told[0]).toEqual(told[1] as JobEvent[]);
    expect(told[0]).toMatchObject([
      {
        key: 'github:job:289782451:2',
        type: 'ci_insights.job_retried',
        trigger: '@Codertocat',
        pull_request: null,
        base_ref: null,
        metadata: {
          pipeline_name: 'CodeQL',
          job_name: 'update',
          run_id: '2202229078',
          run_attempt: 2,
          commit: '3484a3fb816e0859fd6e1cea078d76385ff50625',
          branch: 'main',
        },
      },
    ]);
  });

  test.each([
    ['queued', 1],
    ['queued', undefined],
    ['completed', 2],
    ['waiting', 2],
  ])('%s at attempt %p is not one', (action, attempt) => {
    expect(read('workflow_job', job(action, attempt)).job).toBeNull();
  });

  const check = (changes: object) => payloadOf('check_run', 'rerequested', { check_run: changes });
  const pull = (number: number, repositoryId: number) => ({
    number,
    base: { ref: 'main', repo: { id: repositoryId } },
  });

  test('of a CI system behind a check is an event of the only pull request with that commit in this repository', () => {
    const payload = check({});
    const id = (payload.repository as { id: number }).id;
    const told = (...pull_requests: object[]) => {
      const [event] = eventsOf('check_run', check({ pull_requests }));
      return [event?.pull_request, event?.base_ref];
    };
    expect(told()).toEqual([null, null]);
    expect(told(pull(4, id), pull(9, id + 1))).toEqual([4, 'main']);
    expect(told(pull(4, id), pull(5, id))).toEqual([null, null]);
    expect(eventsOf('check_run', payload)).toMatchObject([
      {
        type: 'ci_insights.job_retried',
        metadata: { job_name: 'randscape', branch: 'master', run_id: null, run_attempt: null },
      },
    ]);
  });

  test("of the host's own pipelines is left to workflow_job deliveries", () => {
    expect(read('check_run', check({ app: { slug: 'github-actions' } })).job).toBeNull();
  });
});

describe('a repository', () => {
  const NOW = { name: 'new', owner: { login: 'acme' } };
  test.each([
    ['renamed', { changes: { repository: { name: { from: 'old' } } } }, { owner: 'acme', name: 'old' }],
    ['transferred', { changes: { owner: { from: { user: { login: 'mona' } } } } }, { owner: 'mona', name: 'new' }],
    [
      'transferred',
      { changes: { owner: { from: { user: null, organization: { login: 'hooli' } } } } },
      { owner: 'hooli', name: 'new' },
    ],
  ])('that was %s has its previous path', (action, changes, from) => {
    const { job } = read('repository', payloadOf('repository', action, { ...changes, repository: NOW }));
    expect(job?.repository).toMatchObject({ owner: 'acme', name: 'new' });
    expect(job?.renamed_from).toEqual(from);
    expect(job?.events).toEqual([]);
  });

  test('that was only edited is ignored', () => {
    expect(read('repository', payloadOf('repository', 'edited')).job).toBeNull();
  });
});
