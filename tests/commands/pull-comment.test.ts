/** The one comment of a pull request, on servers that answer as each host does. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { CommentHost } from '../../src/hosts/writes/comment-host.ts';
import { keepComment, type Wanted } from '../../src/hosts/writes/keep-comment.ts';
import { markerKey, readMarked, withMarker } from '../../src/hosts/writes/marker.ts';
import { textOf } from '../support/pull-dialects.ts';
import { HOST_TOKEN, PullHost, SELF } from '../support/pull-host.ts';
import { REMOTES, remoteAt } from '../support/remotes.ts';

const COMMIT = '1111111111111111111111111111111111111111';
const KEY = markerKey({ owner: 'acme', name: 'shop' });
let host: PullHost;
beforeEach(() => {
  host = new PullHost();
  host.head = COMMIT;
});
afterEach(() => host.stop());

const github = (): CommentHost => remoteAt('github', host.origin).comments(7);

const failing = (text: string): Wanted => ({ text, isWorthOne: true });
const clear: Wanted = { text: 'All clear', isWorthOne: false };
const keep = (on: CommentHost, wanted: Wanted | null, firstResult = 0) =>
  keepComment({
    host: on,
    commit: COMMIT,
    key: KEY,
    read: async () => wanted,
    wasThere: async () => false,
    firstResultAt: async () => firstResult,
  });
const texts = () => host.own().map(({ body }) => readMarked(KEY, body)?.text);
const limited = (status: number, headers: Record<string, string>, message = 'slow down') =>
  Response.json({ message }, { status, headers });

describe.each(REMOTES)('on %s', (name, kind) => {
  const on = (): CommentHost => remoteAt(kind, host.origin).comments(7);

  test('what failed is written once, then updated, and replaced when nothing fails', async () => {
    expect(await keep(on(), clear)).toBe('nothing');
    expect(host.changes).toEqual([]);
    expect(await keep(on(), failing('1 failure'))).toBe('written');
    expect(await keep(on(), failing('1 failure'))).toBe('unchanged');
    expect(host.changes).toHaveLength(1);
    expect(await keep(on(), failing('2 failures'))).toBe('updated');
    expect(texts()).toEqual(['2 failures']);
    expect(await keep(on(), clear)).toBe('updated');
    expect(texts()).toEqual(['All clear']);
  });

  test('it is found behind hundreds of other comments', async () => {
    for (let i = 0; i < 250; i++) host.add('octocat', `comment ${i}`);
    await keep(on(), failing('1 failure'));
    for (let i = 0; i < 250; i++) host.add('octocat', `comment ${i}`);
    expect(await keep(on(), failing('2 failures'))).toBe('updated');
    expect(texts()).toEqual(['2 failures']);
  });

  test('jobs that write at the same time leave one comment, with the newest answer', async () => {
    for (let round = 0; round < 5; round++) {
      host.comments = [];
      let asked = 0;
      const read = async () => failing(`${Math.min(6, ++asked)} failures`);
      const jobs = Array.from({ length: 6 }, () =>
        keepComment({
          host: on(),
          commit: COMMIT,
          key: KEY,
          read,
          firstResultAt: async () => Date.now(),
          wasThere: async () => false,
        }),
      );
      await Promise.all(jobs);
      expect(texts()).toEqual(['6 failures']);
    }
  });

  test('what someone has edited stays as it is', async () => {
    await keep(on(), failing('1 failure'));
    const [comment] = host.own();
    if (!comment) throw new Error('no comment');
    comment.body = comment.body.replaceAll('\n', '\r\n');
    expect(await keep(on(), failing('2 failures'))).toBe('updated');
    comment.body += '\r\nSeen, Ada is on it.';
    const edited = comment.body;
    expect(await keep(on(), failing('3 failures'))).toBe('edited');
    expect(host.own().map(({ body }) => body)).toEqual([edited]);
  });

  test('a stranger who copies the marker neither gets the comment nor keeps it away', async () => {
    const copied = withMarker(KEY, 'all is well');
    host.add('mallory', copied);
    expect(await keep(on(), failing('1 failure'))).toBe('written');
    expect(texts()).toEqual(['1 failure']);
    expect(host.comments[0]?.body).toBe(copied);
  });

  test('a comment about another repository is not touched', async () => {
    const other = withMarker(markerKey({ owner: 'acme', name: 'docs' }), 'other');
    host.add(SELF, other);
    await keep(on(), failing('1 failure'));
    expect(host.own().map(({ body }) => body)).toEqual([other, withMarker(KEY, '1 failure', on().marker)]);
  });

  test('a job of an older commit changes nothing', async () => {
    await keep(on(), failing('1 failure'));
    host.head = '2222222222222222222222222222222222222222';
    expect(await keep(on(), failing('2 failures'))).toBe('outdated');
    expect(texts()).toEqual(['1 failure']);
  });

  test('what was created although the answer was lost is not created again', async () => {
    let lost = 0;
    host.trouble = async (request) => {
      if (request.method !== 'POST' || request.url.endsWith('graphql') || lost++ > 0) return undefined;
      host.add(SELF, await textOf(request));
      return new Response('bad gateway', { status: 502 });
    };
    expect(await keep(on(), failing('1 failure'))).toBe('written');
    expect(texts()).toEqual(['1 failure']);
    expect(host.changes.filter((change) => change.startsWith('POST'))).toHaveLength(1);
  });

  test('a limit is waited for as long as the host says, and one that is too long ends it', async () => {
    let times = 0;
    host.trouble = (request) =>
      request.method === 'POST' && !request.url.endsWith('graphql') && times++ === 0
        ? limited(429, { 'retry-after': '0' })
        : undefined;
    expect(await keep(on(), failing('1 failure'))).toBe('written');
    host.trouble = () => limited(429, { 'retry-after': '3600' });
    const error = await keep(on(), failing('2 failures')).catch(String);
    expect(error).toBe(`HostError: ${name} takes no more requests for now (429)`);
  });

  test('after so many refusals it gives up', async () => {
    let asked = 0;
    host.trouble = () => {
      asked++;
      return limited(429, { 'retry-after': '0' });
    };
    await expect(keep(on(), failing('1 failure'))).rejects.toThrow('takes no more requests');
    expect(asked).toBe(4);
  });

  test('a token that may not write is told what it needs, at once', async () => {
    for (const status of [403, 404]) {
      host.trouble = (request) =>
        request.method === 'POST' && !request.url.endsWith('graphql')
          ? Response.json({ message: 'Resource not accessible by integration' }, { status })
          : undefined;
      const error = await keep(on(), failing('1 failure')).catch(String);
      expect(error).toStartWith(`HostError: ${name} refused (${status}: Resource not accessible by integration). `);
      expect(error).toContain('forks');
      expect(error).not.toContain(HOST_TOKEN);
    }
    expect(host.changes).toHaveLength(2);
  });
});

describe('on GitHub', () => {
  test('a comment that a person deleted is not written again for the commit, but for the next one', async () => {
    await keep(github(), failing('1 failure'));
    const before = Date.now() - 60_000;
    host.deleteAs('ada', host.own()[0]?.id ?? 0);
    expect(await keep(github(), failing('1 failure'), before)).toBe('deleted');
    expect(host.own()).toEqual([]);
    expect(await keep(github(), failing('1 failure'), Date.now() + 60_000)).toBe('written');
  });

  test('comments that jobs with the same token remove do not count, nor those of others', async () => {
    host.deleteAs(SELF, host.add(SELF, 'of another workflow').id);
    host.deleteAs('ada', host.add('octocat', 'of a person').id);
    expect(await keep(github(), failing('1 failure'))).toBe('written');
  });

  test('a secondary limit is a refusal with 403, and a spent one says until when', async () => {
    const answers = [
      limited(403, { 'retry-after': '0' }, 'You have exceeded a secondary rate limit'),
      limited(403, { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(Math.floor(Date.now() / 1_000)) }),
    ];
    host.trouble = () => answers.shift();
    expect(await keep(github(), failing('1 failure'))).toBe('written');
    host.trouble = () => limited(403, {}, 'You have exceeded a secondary rate limit');
    await expect(keep(github(), failing('2 failures'))).rejects.toThrow('takes no more requests for now (403)');
  });

  test('what GraphQL refuses is said', async () => {
    host.trouble = (request) =>
      request.url.endsWith('graphql') ? Response.json({ errors: [{ message: 'Could not resolve' }] }) : undefined;
    await expect(keep(github(), failing('1 failure'))).rejects.toThrow(
      'GitHub does not show pull request 7: Could not resolve',
    );
  });
});
