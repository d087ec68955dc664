/** What deliveries of GitLab, Gitea and Bitbucket become, from payloads that are written after their documentation. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { ZodError } from 'zod';
import { HOST_KINDS, type HostKindName } from '../../src/domain/host-page.ts';
import { HOSTS } from '../../src/hosts/hosts.ts';
import { WrongDelivery } from '../../src/hosts/webhooks/delivery.ts';
import { jobOf } from '../../src/hosts/webhooks/job.ts';
import { prEventsSchema, readEvent } from '../../src/queue/pr-events.ts';
import {
  COMMITS,
  center,
  cloud,
  gitea,
  gitlab,
  HEADERS,
  mergeRequest,
  SECRET,
  SIGNING_TOKEN,
  signedByGitlab,
} from '../support/deliveries.ts';

type Told = Exclude<HostKindName, 'github'>;
const KINDS: readonly Told[] = HOST_KINDS.filter((kind) => kind !== 'github');

const jobFor = (kind: HostKindName, event: string, payload: unknown, isDefault = true) =>
  jobOf({ name: kind, kind, isDefault }, { id: 'd1', event, payload, bodyHash: 'hash' });

const told = (kind: Told, event: string, payload: unknown) => {
  const { job, reason } = jobFor(kind, event, payload);
  if (job) expect(prEventsSchema.parse(job)).toEqual(job);
  for (const one of job?.events ?? []) expect(readEvent(one)).toHaveProperty('event');
  return { events: job?.events.map(({ type, metadata }) => [type, metadata]) ?? [], job, reason };
};

const MR = 'Merge Request Hook';
const { head, merge } = COMMITS;
const label = (title: string) => ({ id: 1, title, color: '#000' });

describe('events', () => {
  const approve = { type: 'approved', review_type: 'APPROVE', message: null };
  test.each([
    ['gitlab', MR, mergeRequest('close', { state: 'closed' }), [['action.close', {}]]],
    [
      'gitlab',
      MR,
      mergeRequest('merge', { state: 'merged', merge_commit_sha: merge }),
      [['action.merge', { branch: 'trunk', commit: merge }]],
    ],
    // A merge without a merge commit.
    ['gitlab', MR, mergeRequest('merge', { state: 'merged' }), [['action.merge', { branch: 'trunk', commit: head }]]],
    ['gitlab', MR, mergeRequest('approved'), [['action.review', { ...approve, reviewer: 'rita' }]]],
    ['gitlab', MR, mergeRequest('approval'), [['action.review', { ...approve, reviewer: 'rita' }]]],
    ['gitlab', MR, mergeRequest('unapproved'), [['action.dismiss_reviews', { users: ['rita'] }]]],
    ['gitlab', MR, mergeRequest('update', { oldrev: merge }), [['action.update', { before: merge, after: head }]]],
    [
      'gitlab',
      MR,
      mergeRequest(
        'update',
        {},
        {
          changes: {
            labels: { previous: [label('old')], current: [label('new')] },
            assignees: { previous: [], current: [gitlab.wim] },
            reviewers: { previous: [gitlab.rita], current: [gitlab.rita, gitlab.wim] },
            draft: { previous: true, current: false },
            updated_at: { previous: 1, current: 2 },
          },
        },
      ),
      [
        ['action.label', { added: ['new'], removed: ['old'] }],
        ['action.assign', { added: ['wim'], removed: [] }],
        ['action.request_reviews', { reviewers: ['wim'], team_reviewers: [] }],
        ['action.edit', { draft: false, changed: ['draft'] }],
      ],
    ],
    ['gitlab', 'System Hook', mergeRequest('close', { state: 'closed' }), [['action.close', {}]]],
    [
      'gitlab',
      'Note Hook',
      gitlab.note('@mergifyio queue urgent'),
      [['command.queue', { command: '@mergifyio queue urgent', queue_name: 'urgent', comment_id: 1244 }]],
    ],
    [
      'gitlab',
      'Job Hook',
      gitlab.job(1977, 1),
      [
        [
          'ci_insights.job_retried',
          { job_name: 'unit', run_id: '2366', run_attempt: 2, commit: head, branch: 'topic' },
        ],
      ],
    ],
    ['gitea', 'pull_request', gitea.pull('closed'), [['action.close', {}]]],
    [
      'gitea',
      'pull_request',
      gitea.pull('closed', {}, { merged: true, merge_commit_sha: merge }),
      [['action.merge', { branch: 'trunk', commit: merge }]],
    ],
    [
      'gitea',
      'pull_request',
      gitea.pull('edited', { changes: { title: { from: 'old' } } }),
      [['action.edit', { changed: ['title'] }]],
    ],
    ['gitea', 'pull_request', gitea.pull('synchronized'), [['action.update', { before: null, after: head }]]],
    [
      'gitea',
      'pull_request',
      gitea.pull('label_updated', { changes: { added_labels: [label('x')].map(({ title: name }) => ({ name })) } }),
      [['action.label', { added: ['x'], removed: [] }]],
    ],
    [
      'gitea',
      'pull_request',
      gitea.pull('review_requested', { requested_reviewer: { id: 3, login: 'wim' } }),
      [['action.request_reviews', { reviewers: ['wim'] }]],
    ],
    [
      'gitea',
      'pull_request_rejected',
      gitea.pull('reviewed', { review: { type: 'pull_request_review_rejected', content: 'no' } }),
      [
        [
          'action.review',
          { type: 'changes_requested', review_type: 'REQUEST_CHANGES', reviewer: 'mona', message: 'no' },
        ],
      ],
    ],
    ['gitea', 'issue_comment', gitea.comment('@mergify dequeue'), [['command.dequeue', { queue_name: null }]]],
    ['gitea', 'workflow_job', gitea.job('queued', 2), [['ci_insights.job_retried', { run_attempt: 2, run_id: '12' }]]],
    ['bitbucket-cloud', 'pullrequest:updated', cloud.pull(), [['action.edit', { draft: null, changed: [] }]]],
    ['bitbucket-cloud', 'pullrequest:approved', cloud.pull(), [['action.review', { ...approve, reviewer: 'emma' }]]],
    ['bitbucket-cloud', 'pullrequest:unapproved', cloud.pull(), [['action.dismiss_reviews', { users: ['emma'] }]]],
    [
      'bitbucket-cloud',
      'pullrequest:changes_request_created',
      cloud.pull(),
      [['action.review', { review_type: 'REQUEST_CHANGES', reviewer: 'emma' }]],
    ],
    [
      'bitbucket-cloud',
      'pullrequest:fulfilled',
      cloud.pull({ state: 'MERGED', merge_commit: { hash: merge } }),
      [['action.merge', { branch: 'trunk', commit: merge }]],
    ],
    ['bitbucket-cloud', 'pullrequest:rejected', cloud.pull({ state: 'DECLINED' }), [['action.close', {}]]],
    [
      'bitbucket-cloud',
      'pullrequest:comment_created',
      cloud.pull({}, { comment: { id: 17, content: { raw: '@mergifyio queue' } } }),
      [['command.queue', { comment_id: 17 }]],
    ],
    [
      'bitbucket-data-center',
      'pr:from_ref_updated',
      center.pull('pr:from_ref_updated', { previousFromHash: merge }),
      [['action.update', { before: merge, after: head }]],
    ],
    [
      'bitbucket-data-center',
      'pr:modified',
      center.pull('pr:modified', { previousTitle: 'Old', previousDescription: null }),
      [['action.edit', { draft: null, changed: ['title'] }]],
    ],
    [
      'bitbucket-data-center',
      'pr:reviewer:updated',
      center.pull('pr:reviewer:updated', { addedReviewers: [center.admin], removedReviewers: [] }),
      [['action.request_reviews', { reviewers: ['admin'] }]],
    ],
    [
      'bitbucket-data-center',
      'pr:reviewer:approved',
      center.pull('pr:reviewer:approved'),
      [['action.review', { ...approve, reviewer: 'admin' }]],
    ],
    [
      'bitbucket-data-center',
      'pr:reviewer:needs_work',
      center.pull('pr:reviewer:needs_work'),
      [['action.review', { review_type: 'REQUEST_CHANGES' }]],
    ],
    [
      'bitbucket-data-center',
      'pr:reviewer:unapproved',
      center.pull('pr:reviewer:unapproved'),
      [['action.dismiss_reviews', { users: ['admin'] }]],
    ],
    [
      'bitbucket-data-center',
      'pr:merged',
      center.pull('pr:merged', {}, { state: 'MERGED', properties: { mergeCommit: { id: merge } } }),
      [['action.merge', { branch: 'trunk', commit: merge }]],
    ],
    [
      'bitbucket-data-center',
      'pr:declined',
      center.pull('pr:declined', {}, { state: 'DECLINED' }),
      [['action.close', {}]],
    ],
    [
      'bitbucket-data-center',
      'pr:comment:added',
      center.pull('pr:comment:added', { comment: { id: 62, text: '@mergifyio dequeue' } }),
      [['command.dequeue', { comment_id: 62 }]],
    ],
  ] as [Told, string, unknown, [string, object][]][])('%s %s', (kind, event, payload, expected) => {
    const { events, reason } = told(kind, event, payload);
    expect(events).toMatchObject(expected);
    expect([events.length, reason]).toEqual([expected.length, null]);
  });

  test('a job of GitLab that is retried is one event, however often its way is told', () => {
    const keys = ['created', 'pending', 'running', 'success'].map(
      (status) => told('gitlab', 'Job Hook', gitlab.job(1977, 1, status)).job?.events[0]?.key,
    );
    expect(new Set(keys)).toEqual(new Set(['gitlab:job:1977']));
  });
});

describe('no event, with the reason', () => {
  test.each([
    ['gitlab', MR, mergeRequest('open'), 'There is no event for the action open.'],
    ['gitlab', MR, mergeRequest(undefined), 'There is no event for the action (none).'],
    ['gitlab', 'Note Hook', gitlab.note('looks good'), 'The comment has no queue command.'],
    [
      'gitlab',
      'Note Hook',
      gitlab.note('@mergifyio queue', { action: 'update' }),
      'A comment that is edited, or that the host writes, makes no event.',
    ],
    ['gitlab', 'Push Hook', gitlab.push('refs/heads/topic', head), 'Pushes make no event.'],
    ['gitlab', 'Job Hook', gitlab.job(1, 0), 'The first attempt of a job is not a retry.'],
    ['gitlab', 'Pipeline Hook', {}, 'There is no event for Pipeline Hook deliveries.'],
    ['gitea', 'pull_request', gitea.pull('label_updated'), 'The delivery does not say which labels came or went.'],
    ['gitea', 'pull_request', gitea.pull('milestoned'), 'There is no event for the action milestoned.'],
    ['gitea', 'issue_comment', gitea.comment('hello'), 'The comment has no queue command.'],
    ['gitea', 'issue_comment', gitea.comment('x', { is_pull: false }), 'Comments on issues make no event.'],
    ['gitea', 'push', {}, 'There is no event for push deliveries.'],
    ['bitbucket-cloud', 'repo:push', cloud.push({ new: {}, old: null }), 'Pushes make no event.'],
    ['bitbucket-data-center', 'diagnostics:ping', { test: true }, 'The webhook works: the signature is correct.'],
    [
      'bitbucket-data-center',
      'pr:reviewer:updated',
      center.pull('pr:reviewer:updated', { addedReviewers: [], removedReviewers: [center.admin] }),
      'Withdrawing a request for a review makes no event.',
    ],
  ] as [Told, string, unknown, string][])('%s %s', (kind, event, payload, reason) => {
    const found = told(kind, event, payload);
    expect([found.events, found.reason]).toEqual([[], reason]);
  });

  test('every type is read or named as not offered, and none twice', () => {
    for (const kind of HOST_KINDS) {
      const { read, notOffered } = HOSTS[kind].webhooks;
      expect(new Set([...read, ...notOffered]).size).toBe(read.length + notOffered.length);
      for (const event of notOffered)
        expect(jobFor(kind, event, {})).toEqual({ job: null, reason: `There is no event for ${event} deliveries.` });
    }
  });
});

describe('the pull request', () => {
  const common = { title: 'Round totals', base_ref: 'trunk', head_ref: 'topic', head_commit: head, merge_commit: null };
  test.each([
    ['gitlab', MR, mergeRequest('open'), { number: 3, author: { id: 7, login: 'rita' }, ...common }],
    ['gitea', 'pull_request', gitea.pull('opened'), { number: 4, author: { id: 9, login: 'mona' }, ...common }],
    ['bitbucket-cloud', 'pullrequest:created', cloud.pull(), { number: 5, author: { login: 'emma' }, ...common }],
    [
      'bitbucket-data-center',
      'pr:opened',
      center.pull('pr:opened'),
      { number: 6, author: { id: 1, login: 'admin' }, ...common },
    ],
  ] as [Told, string, unknown, object][])('of %s is kept', (kind, event, payload, expected) => {
    expect(told(kind, event, payload).job?.pull_requests).toMatchObject([expected]);
  });

  const fork = { id: 500, slug: 'shop', project: { key: 'FORK' } };
  test.each([
    [
      'gitlab',
      MR,
      mergeRequest('open', { source_project_id: 16, source: { path_with_namespace: 'wim/shop' } }),
      'wim:topic',
    ],
    ['gitlab', MR, mergeRequest('open', { source_project_id: null, source: null }), null],
    [
      'gitea',
      'pull_request',
      gitea.pull('opened', {}, { head: { ref: 'topic', sha: head, repo_id: 9, repo: { owner: { login: 'wim' } } } }),
      'wim:topic',
    ],
    [
      'gitea',
      'pull_request',
      gitea.pull('opened', {}, { head: { ref: 'topic', sha: head, repo_id: 9, repo: null } }),
      null,
    ],
    [
      'bitbucket-cloud',
      'pullrequest:created',
      cloud.pull({ source: { branch: { name: 'topic' }, commit: null, repository: { full_name: 'wim/shop' } } }),
      'wim:topic',
    ],
    [
      'bitbucket-cloud',
      'pullrequest:created',
      cloud.pull({ source: { branch: { name: 'topic' }, commit: null, repository: null } }),
      null,
    ],
    [
      'bitbucket-data-center',
      'pr:opened',
      center.pull('pr:opened', {}, { fromRef: { displayId: 'topic', latestCommit: head, repository: fork } }),
      'FORK:topic',
    ],
  ] as [Told, string, unknown, string | null][])(
    'of a fork on %s does not name a branch of this repository',
    (kind, event, payload, ref) => {
      expect(told(kind, event, payload).job?.pull_requests[0]?.head_ref).toBe(ref);
    },
  );
});

test('deleted branches are told by the host’s own delivery of them', () => {
  const gone = (type: string, name: string) => ({ new: null, old: { type, name } });
  const ref = (displayId: string, type: string, change: string) => ({ ref: { displayId, type }, type: change });
  const deletions: [Told, string, unknown][] = [
    ['gitlab', 'Push Hook', gitlab.push('refs/heads/topic/1', '0'.repeat(40))],
    ['gitea', 'delete', gitea.deleted('topic/1')],
    ['bitbucket-cloud', 'repo:push', cloud.push(gone('branch', 'topic/1'), gone('tag', 'v1'))],
    [
      'bitbucket-data-center',
      'repo:refs_changed',
      center.refs(ref('topic/1', 'BRANCH', 'DELETE'), ref('v1', 'TAG', 'DELETE'), ref('trunk', 'BRANCH', 'UPDATE')),
    ],
  ];
  for (const [kind, event, payload] of deletions)
    expect([kind, told(kind, event, payload).job?.deleted_branches.map(({ branch }) => branch)]).toEqual([
      kind,
      ['topic/1'],
    ]);
});

describe('a repository', () => {
  test.each([
    ['gitlab', MR, mergeRequest('open'), 'acme', 'web.shop', 'https://gitlab.com/acme/web/shop', 'trunk'],
    ['gitea', 'pull_request', gitea.pull('opened'), 'acme', 'shop', 'https://git.acme.example/acme/shop', 'trunk'],
    ['bitbucket-cloud', 'pullrequest:created', cloud.pull(), 'acme', 'shop', 'https://bitbucket.org/acme/shop', null],
    [
      'bitbucket-data-center',
      'pr:opened',
      center.pull('pr:opened'),
      'ACME',
      'shop',
      'https://bitbucket.acme.example/projects/ACME/repos/shop',
      null,
    ],
  ] as const)('of %s has its path, page and default branch', (kind, event, payload, owner, name, url, branch) => {
    const { job } = told(kind, event, payload);
    expect(job).toMatchObject({
      repository: { owner, name },
      page_kind: kind,
      page_url: url,
      default_branch: branch,
    });
  });

  test('of the same name on another host is another, under the name of its host', () => {
    const payload = gitea.pull('closed');
    const [first, second] = [true, false].map(
      (isDefault) =>
        jobOf({ name: 'own', kind: 'gitea', isDefault }, { id: 'd', event: 'pull_request', payload, bodyHash: 'h' })
          .job,
    );
    expect(first?.repository).toEqual({ host: 'github.com', owner: 'acme', name: 'shop' });
    expect(second?.repository).toEqual({ host: 'github.com', owner: 'own--acme', name: 'shop' });
  });

  test.each([
    ['gitlab', 'System Hook', gitlab.moved('project_rename', 'acme/web/old'), { owner: 'acme', name: 'web.old' }],
    ['gitlab', 'System Hook', gitlab.moved('project_transfer', 'globex/shop'), { owner: 'globex', name: 'shop' }],
    [
      'bitbucket-cloud',
      'repo:updated',
      {
        actor: cloud.emma,
        repository: cloud.repository,
        changes: { full_name: { old: 'acme/old', new: 'acme/shop' } },
      },
      { owner: 'acme', name: 'old' },
    ],
    [
      'bitbucket-cloud',
      'repo:transfer',
      { actor: cloud.emma, repository: cloud.repository, previousworkspace: { slug: 'globex' } },
      { owner: 'globex', name: 'shop' },
    ],
    [
      'bitbucket-data-center',
      'repo:modified',
      {
        eventKey: 'repo:modified',
        actor: center.admin,
        old: { ...center.repository, slug: 'old' },
        new: center.repository,
      },
      { owner: 'ACME', name: 'old' },
    ],
  ] as [Told, string, unknown, object][])('of %s that moves keeps what is stored: %s', (kind, event, payload, from) => {
    const { job, reason } = told(kind, event, payload);
    expect(job?.renamed_from).toEqual(from as NonNullable<typeof job>['renamed_from']);
    expect(reason).toBe('The repository was moved. It keeps what is stored.');
  });
});

const bytes = (text: string) => new TextEncoder().encode(text);
const SAMPLES: Record<Told, [string, unknown]> = {
  gitlab: [MR, mergeRequest('close')],
  gitea: ['pull_request', gitea.pull('closed')],
  'bitbucket-cloud': ['pullrequest:rejected', cloud.pull()],
  'bitbucket-data-center': ['pr:declined', center.pull('pr:declined')],
};

describe('a signature', () => {
  test.each(KINDS)('of %s is valid with one of the secrets, and with no other', async (kind) => {
    const [event, payload] = SAMPLES[kind];
    const body = JSON.stringify(payload);
    const isFrom = (headers: Record<string, string>, sent = body, secrets = [SECRET, 'the next of the secrets']) =>
      HOSTS[kind].webhooks.checkOf(secrets)(new Headers(headers), bytes(sent));
    expect(await isFrom(HEADERS[kind](event, body))).toBe(true);
    expect(await isFrom(HEADERS[kind](event, body, 'the next of the secrets'))).toBe(true);
    expect(await isFrom(HEADERS[kind](event, body, 'another secret of others'))).toBe(false);
    expect(await isFrom({})).toBe(false);
    expect(await isFrom(HEADERS[kind](event, body), body, [])).toBe(false);
    // The secret token of GitLab does not sign the body; a signing token does.
    if (kind !== 'gitlab') expect(await isFrom(HEADERS[kind](event, body), `${body} `)).toBe(false);
  });

  test('of Forgejo is valid under its own header', async () => {
    const body = JSON.stringify(gitea.pull('closed'));
    const signed = HEADERS.gitea('pull_request', body)['x-gitea-signature'] ?? '';
    const check = HOSTS.gitea.webhooks.checkOf([SECRET]);
    expect(await check(new Headers({ 'x-forgejo-signature': signed }), bytes(body))).toBe(true);
    expect(await check(new Headers({ 'x-forgejo-signature': signed.replace(/^./, 'g') }), bytes(body))).toBe(false);
  });

  test('of a signing token of GitLab covers id, time and body; the token itself is not accepted in its place', async () => {
    const body = JSON.stringify(mergeRequest('close'));
    const check = HOSTS.gitlab.webhooks.checkOf([SIGNING_TOKEN]);
    const headers = signedByGitlab(MR, body);
    const isFrom = (changes: Record<string, string>, sent = body) =>
      check(new Headers({ ...headers, ...changes }), bytes(sent));
    expect(await isFrom({})).toBe(true);
    expect(await isFrom({ 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` })).toBe(true);
    expect(await isFrom({ 'webhook-id': 'msg_2' })).toBe(false);
    expect(await isFrom({ 'webhook-timestamp': '1795000001' })).toBe(false);
    expect(await isFrom({}, `${body} `)).toBe(false);
    expect(await check(new Headers({ 'x-gitlab-token': SIGNING_TOKEN }), bytes(body))).toBe(false);
  });
});

test.each(KINDS)('a body of %s is refused under the name of another event', (kind) => {
  const [event, payload] = SAMPLES[kind];
  const body = JSON.stringify(payload);
  const read = (said: string) => {
    const headers = new Headers({ 'content-type': 'application/json', ...HEADERS[kind](said, body) });
    return HOSTS[kind].webhooks.deliveryOf(headers, bytes(body));
  };
  expect(read(event)).toMatchObject({ event, payload });
  const others = { gitlab: 'Note Hook', gitea: 'issue_comment', 'bitbucket-cloud': 'repo:push' };
  const other = kind === 'bitbucket-data-center' ? 'pr:merged' : others[kind];
  expect(() => read(other)).toThrow(WrongDelivery);
});

test('whatever a signed payload holds, it becomes a job that fits the queue, a reason, or an error of the payload', () => {
  const payloads = KINDS.map((kind) => [kind, ...SAMPLES[kind]] as const);
  fc.assert(
    fc.property(
      fc.constantFrom(...payloads),
      fc.string({ unit: 'grapheme' }),
      fc.json(),
      ([kind, event, payload], field, value) => {
        const text = JSON.stringify(payload);
        const changed = text
          .replace('"Round totals"', () => value)
          .replace('trunk', () => JSON.stringify(field).slice(1, -1));
        try {
          const { job } = jobFor(kind, event, JSON.parse(changed));
          if (job) expect(prEventsSchema.parse(job)).toEqual(job);
        } catch (error) {
          if (!(error instanceof ZodError)) throw error;
        }
      },
    ),
  );
});
