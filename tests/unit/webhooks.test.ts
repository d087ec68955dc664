/** The jobs that deliveries become, from octokit's collection of real payloads and variants of them. */
import { describe, expect, test } from 'bun:test';
import { emitterEventNames } from '@octokit/webhooks';
import fc from 'fast-check';
import { ZodError } from 'zod';
import { eventOfBody } from '../../src/hosts/github/delivery.ts';
import { isRead } from '../../src/hosts/github/mapping.ts';
import { HOSTS } from '../../src/hosts/hosts.ts';
import { jobIdOf, jobOf } from '../../src/hosts/webhooks/job.ts';
import { type JobEvent, prEventsSchema, readEvent } from '../../src/queue/pr-events.ts';
import { GITHUB, MERGED, payloadOf, webhookExamples } from '../support/webhooks.ts';

const EXAMPLES = webhookExamples();

/** The job of a payload, or the reason why there is none. */
const read = (event: string, payload: unknown, id = 'd1') => jobOf(GITHUB, { id, event, payload, bodyHash: id });

const eventsOf = (event: string, payload: unknown): JobEvent[] => {
  const { job, reason } = read(event, payload);
  if (!job) throw new Error(`ignored: ${reason}`);
  return job.events;
};

describe('every payload of the collection', () => {
  test('makes an event or has a reason not to; every job fits the queue and the event log', () => {
    expect(EXAMPLES.length).toBeGreaterThan(700);
    expect(new Set(EXAMPLES.map(({ delivery }) => delivery)).size).toBe(EXAMPLES.length);
    for (const { name, event, delivery, payload } of EXAMPLES) {
      const { job, reason } = jobOf(GITHUB, { id: delivery, event, payload, bodyHash: delivery });
      if (!job || job.events.length === 0) expect([name, reason]).toEqual([name, expect.stringMatching(/^[A-Z].+\.$/)]);
      else expect([name, reason]).toEqual([name, null]);
      if (!job) continue;
      expect(prEventsSchema.parse(job)).toEqual(job);
      expect(job.events.map((told) => readEvent(told)).filter((told) => 'reason' in told)).toEqual([]);
      expect(new Set(job.events.map(({ key }) => key)).size).toBe(job.events.length);
    }
  });

  test('together make as many events of each type as there are deliveries of that kind', () => {
    const counts: Record<string, number> = {};
    for (const { event, delivery, payload } of EXAMPLES)
      for (const { type } of jobOf(GITHUB, { id: delivery, event, payload, bodyHash: delivery }).job?.events ?? [])
        counts[type] = (counts[type] ?? 0) + 1;
    const actions = (event: string, ...names: string[]): number =>
      EXAMPLES.filter((it) => it.event === event && names.includes(it.payload.action ?? '')).length;
    expect(counts).toEqual({
      'action.assign': actions('pull_request', 'assigned', 'unassigned'),
      'action.close': actions('pull_request', 'closed'),
      'action.dismiss_reviews': actions('pull_request_review', 'dismissed'),
      'action.edit': actions('pull_request', 'edited', 'converted_to_draft', 'ready_for_review'),
      'action.label': actions('pull_request', 'labeled', 'unlabeled'),
      'action.request_reviews': actions('pull_request', 'review_requested'),
      'action.review': actions('pull_request_review', 'submitted'),
      'action.update': actions('pull_request', 'synchronize'),
      'ci_insights.job_retried': actions('check_run', 'rerequested'),
    });
    expect(Object.values(counts).every((count) => count > 0)).toBe(true);
  });

  test('keeps the pull request if it contains one', () => {
    const holders = EXAMPLES.filter(({ payload }) => typeof payload.pull_request === 'object');
    expect(holders.length).toBeGreaterThan(50);
    for (const { event, payload } of holders) {
      const pull = payload.pull_request as { number: number; title: string };
      expect(read(event, payload).job?.pull_requests).toMatchObject([{ number: pull.number, title: pull.title }]);
    }
  });
});

test('every example of an event that is read has a body of that event', () => {
  const told = EXAMPLES.filter(({ event }) => isRead(event)).map(({ event, payload }) => [event, eventOfBody(payload)]);
  expect(told.filter(([event, of]) => of !== undefined && of !== event)).toEqual([]);
  // Renames are told by nothing but the name of the event.
  expect(new Set(told.filter(([, of]) => of === undefined).map(([event]) => event))).toEqual(new Set(['repository']));
});

describe('the pull request', () => {
  const versionOf = (changes: object) => {
    const payload = payloadOf('pull_request', 'opened', { pull_request: changes });
    return read('pull_request', payload).job?.pull_requests[0];
  };

  test('is stored completely', () => {
    expect(versionOf({})).toEqual({
      number: 2,
      id: 279147437,
      title: 'Update the README with new information.',
      author: { id: 21031067, login: 'Codertocat' },
      base_ref: 'master',
      head_ref: 'changes',
      head_commit: 'ec26c3e57ca3a959ca5aad62de7213c562f8c821',
      merge_commit: null,
      updated_at: '2019-05-15T15:20:33Z',
    });
  });

  test('has a merge commit only once it is merged: before, the payload has the test merge there', () => {
    expect(versionOf({ merge_commit_sha: 'abc' })?.merge_commit).toBeNull();
    expect(versionOf(MERGED)?.merge_commit).toBe(MERGED.merge_commit_sha);
  });

  test('of a deleted account has no author', () => {
    expect(versionOf({ user: null })?.author).toBeNull();
  });

  test('of a fork is distinguished from a branch with the same name here, even after the fork was deleted', () => {
    expect(versionOf({ head: { label: 'mona:changes', repo: { id: 1 } } })?.head_ref).toBe('mona:changes');
    expect(versionOf({ head: { label: 'mona:changes', repo: null } })?.head_ref).toBe('mona:changes');
    expect(versionOf({ head: { label: null, repo: null } })?.head_ref).toBeNull();
  });

  test('and every other text is cleaned and cut between code points', () => {
    const nasty = fc.string({ unit: fc.constantFrom('a', '\0', '\uD83D', '\uDE00', '😀', '\n') });
    const long = fc
      .tuple(nasty, fc.integer({ min: 0, max: 70_000 }))
      .map(([text, times]) => text.repeat(times).slice(0, 200_000));
    fc.assert(
      fc.property(long, nasty, (text, name) => {
        const payloads = [
          [
            'pull_request',
            payloadOf('pull_request', 'labeled', {
              label: { name: text },
              sender: { login: `a${name}` },
              pull_request: { title: text, base: { ref: name } },
            }),
          ],
          [
            'pull_request_review',
            payloadOf('pull_request_review', 'submitted', { review: { body: text, state: name } }),
          ],
        ] as const;
        for (const [event, payload] of payloads) {
          const { job } = read(event, payload);
          expect(prEventsSchema.safeParse(job).success).toBe(true);
          expect(job?.events.every((told) => 'event' in readEvent(told))).toBe(true);
          const texts = JSON.stringify(job);
          expect(texts).not.toContain('\\u0000');
          expect(texts).not.toMatch(/\\ud[89a-f]/i);
        }
      }),
      { numRuns: 30 },
    );
  });
});

describe('the repository', () => {
  test('is the host, owner and name of the payload, with its default branch', () => {
    expect(read('pull_request', payloadOf('pull_request', 'labeled')).job).toMatchObject({
      repository: { host: 'github.com', owner: 'Codertocat', name: 'Hello-World' },
      default_branch: 'master',
    });
    const enterprise = EXAMPLES.find(({ name }) => name.startsWith('ghes-35 pull_request['));
    expect(read('pull_request', enterprise?.payload).job?.repository.host).toBe('octocoders.github.io');
  });

  test('does not need a sender: a deleted account is the ghost', () => {
    expect(eventsOf('pull_request', payloadOf('pull_request', 'labeled', { sender: null }))[0]?.trigger).toBe('@ghost');
  });

  test.each([
    ['no repository', { repository: undefined }, 'names no repository'],
    ['an owner with _', { repository: { owner: { login: 'mona_acme' } } }, 'cannot be addressed here'],
    ['a name with a space', { repository: { name: 'a b' } }, 'cannot be addressed here'],
  ])('%s is ignored with the reason', (_, changes, reason) => {
    const payload = payloadOf('pull_request', 'labeled', changes);
    expect(read('pull_request', payload)).toEqual({ job: null, reason: expect.stringContaining(reason) });
  });
});

test('a payload that lacks a required field is refused with the place of the field', () => {
  const broken = payloadOf('pull_request', 'labeled', { pull_request: { number: 'two' } });
  expect(() => read('pull_request', broken)).toThrow(ZodError);
  for (const payload of [null, [], 'text', 1]) expect(() => read('pull_request', payload)).toThrow(ZodError);
});

test('job ids contain no colon and are not all digits, as the queue requires', () => {
  const id = jobIdOf('github', { bodyHash: '1234567890' });
  expect(id).toMatch(/^[\w.-]+$/);
  expect(id).not.toMatch(/^\d+$/);
});

test('every type of delivery that the host documents is read or named as not offered, and only once', () => {
  const { read, notOffered } = HOSTS.github.webhooks;
  const documented = new Set(emitterEventNames.map((name) => name.split('.')[0] ?? name));
  expect([...read, ...notOffered, 'ping'].sort()).toEqual([...documented].sort());
});
