/** The one check of a commit, on servers that answer as GitHub and GitLab do. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { CheckAnnotation, CheckHost, WantedCheck } from '../../src/host-api/check-host.ts';
import { GithubChecks } from '../../src/host-api/github-checks.ts';
import { GitlabStatus } from '../../src/host-api/gitlab-status.ts';
import { keepCheck } from '../../src/host-api/keep-check.ts';
import { markerKey } from '../../src/host-api/marker.ts';
import { ChecksHost } from '../support/check-host.ts';
import { HOST_TOKEN, SELF } from '../support/pull-host.ts';

const COMMIT = '1111111111111111111111111111111111111111';
const KEY = markerKey({ owner: 'acme', name: 'shop' });
let host: ChecksHost;
beforeEach(() => {
  host = new ChecksHost();
});
afterEach(() => host.stop());

const place = () => ({ apiUrl: `${host.origin}/api/v3`, graphqlUrl: `${host.origin}/api/graphql`, token: HOST_TOKEN });
const github = (): CheckHost => new GithubChecks({ ...place(), repository: 'acme/shop', commit: COMMIT, key: KEY });
const gitlab = (): CheckHost =>
  new GitlabStatus({
    apiUrl: `${host.origin}/api/v4`,
    token: HOST_TOKEN,
    project: 'acme/web/shop',
    commit: COMMIT,
    pipelineId: '9',
  });
const saying = (title: string, change: Partial<WantedCheck> = {}): WantedCheck => ({
  conclusion: 'failure',
  title,
  summary: `### ${title}`,
  url: `https://ci.example/app/acme/shop/commits/${COMMIT}`,
  annotations: [],
  ...change,
});
const annotated = (count: number, from = 0): CheckAnnotation[] =>
  Array.from({ length: count }, (_, i) => ({
    path: 'src/cart.test.ts',
    line: from + i + 1,
    level: 'failure',
    title: 'Failed test, new',
    message: `cart ${from + i}`,
  }));
const keep = (on: CheckHost, wanted: WantedCheck | null) => keepCheck(on, async () => wanted);
const isWrite = (request: Request): boolean => request.method !== 'GET' && !request.url.endsWith('graphql');

describe.each([
  ['GitHub', github, () => host.checks.map(({ conclusion, output }) => [conclusion, output.title])],
  ['GitLab', gitlab, () => host.statuses.map(({ state, description }) => [state, description])],
])('on %s', (name, on, stored) => {
  const failed = name === 'GitHub' ? 'failure' : 'failed';

  test('it is written once, then updated, and left alone when nothing differs', async () => {
    expect(await keep(on(), null)).toBe('nothing');
    expect(host.changes).toEqual([]);
    expect(await keep(on(), saying('1 failure'))).toBe('created');
    expect(await keep(on(), saying('1 failure'))).toBe('unchanged');
    expect(host.changes).toHaveLength(1);
    expect(stored()).toEqual([[failed, '1 failure']]);
    expect(await keep(on(), saying('All clear', { conclusion: 'success' }))).toBe('updated');
    expect(stored()).toEqual([['success', 'All clear']]);
  });

  test('jobs that write at the same time leave the newest answer', async () => {
    await keep(on(), saying('0 failures'));
    let asked = 0;
    const read = async () => saying(`${Math.min(6, ++asked)} failures`);
    await Promise.all(Array.from({ length: 6 }, () => keepCheck(on(), read)));
    expect(stored()).toEqual([[failed, '6 failures']]);
  });

  test('what was written although the answer was lost is not written again', async () => {
    let lost = 0;
    host.trouble = async (request) => {
      if (!isWrite(request) || lost++ > 0) return undefined;
      const sent = await fetch(request.url, { method: request.method, headers: request.headers, body: request.body });
      await sent.text();
      return new Response('bad gateway', { status: 502 });
    };
    await keep(on(), saying('1 failure'));
    expect(stored()).toEqual([[failed, '1 failure']]);
    expect(lost).toBe(2);
  });

  test('limits are waited for, and one that is too long ends it', async () => {
    let times = 0;
    const slow = (seconds: string) => Response.json({}, { status: 429, headers: { 'retry-after': seconds } });
    host.trouble = (request) => (isWrite(request) && times++ === 0 ? slow('0') : undefined);
    expect(await keep(on(), saying('1 failure'))).toBe('created');
    host.trouble = () => slow('3600');
    expect(await keep(on(), saying('2 failures')).catch(String)).toBe(
      `HostError: ${name} takes no more requests for now (429)`,
    );
  });

  test('a token that may not write is told what it needs', async () => {
    for (const status of [401, 403, 404]) {
      host.trouble = (request) =>
        isWrite(request) ? Response.json({ message: 'Resource not accessible' }, { status }) : undefined;
      const error = await keep(on(), saying('1 failure')).catch(String);
      expect(error).toStartWith(`HostError: ${name} refused (${status}: Resource not accessible). `);
      expect(error).not.toContain(HOST_TOKEN);
    }
    expect(host.changes).toHaveLength(3);
  });
});

describe('on GitHub', () => {
  test('more annotations than a request takes follow in further ones', async () => {
    expect(await keep(github(), saying('many', { annotations: annotated(120) }))).toBe('created');
    const [check] = host.checks;
    expect(check?.annotations.map(({ start_line: line }) => line)).toEqual(annotated(120).map(({ line }) => line));
    expect(host.changes.map((change) => change.split(' ')[0])).toEqual(['POST', 'PATCH', 'PATCH']);
  });

  test('each job adds its annotations, and one that runs again adds none twice', async () => {
    await keep(github(), saying('1 failure', { annotations: annotated(3) }));
    await keep(github(), saying('2 failures', { annotations: annotated(2, 10) }));
    await keep(github(), saying('2 failures', { annotations: annotated(3) }));
    expect(host.checks).toHaveLength(1);
    expect(host.checks[0]?.annotations.map(({ message }) => message)).toEqual(
      [0, 1, 2, 10, 11].map((i) => `cart ${i}`),
    );
  });

  test('annotations whose answer was lost are looked for before they are added', async () => {
    let patches = 0;
    host.trouble = async (request) => {
      if (request.method !== 'PATCH' || patches++ > 0) return undefined;
      const sent = await fetch(request.url, { method: 'PATCH', headers: request.headers, body: request.body });
      await sent.text();
      return new Response('', { status: 503 });
    };
    await keep(github(), saying('many', { annotations: annotated(80) }));
    expect(host.checks[0]?.annotations).toHaveLength(80);
  });

  test('of two that were created at the same time, the newer one counts', async () => {
    const wanted = saying('1 failure');
    await Promise.all([github().write(wanted), github().write(wanted)]);
    expect(host.checks.length).toBeGreaterThan(1);
    await keep(github(), saying('2 failures'));
    expect(host.checks.map(({ conclusion }) => conclusion)).toEqual([
      ...host.checks.slice(1).map(() => 'neutral' as const),
      'failure',
    ]);
    host.changes.length = 0;
    expect(await keep(github(), saying('2 failures'))).toBe('unchanged');
    expect(host.changes).toEqual([]);
  });

  test('a check of another App, or about another repository, is not touched', async () => {
    const others = [`${KEY} 0`, `${markerKey({ owner: 'acme', name: 'docs' })} 0`].map((external_id, i) =>
      host.add(i === 0 ? 'other-app' : SELF, {
        name: 'ci-insights',
        head_sha: COMMIT,
        external_id,
        status: 'completed',
        conclusion: 'success',
        output: { title: 'all is well', summary: '' },
      }),
    );
    expect(await keep(github(), saying('1 failure'))).toBe('created');
    expect(host.checks.map(({ output }) => output.title)).toEqual(['all is well', 'all is well', '1 failure']);
    expect(others.map(({ conclusion }) => conclusion)).toEqual(['success', 'success']);
  });

  test('what GitHub finds wrong is said', async () => {
    host.trouble = (request) =>
      isWrite(request) ? Response.json({ message: 'No commit found for SHA' }, { status: 422 }) : undefined;
    await expect(keep(github(), saying('1 failure'))).rejects.toThrow('GitHub refused (422: No commit found for SHA)');
  });
});

test('on GitLab, the status is that of the pipeline, and an address that is too long is left out', async () => {
  await keep(gitlab(), saying('1 failure', { url: `https://ci.example/${'a'.repeat(300)}` }));
  expect(host.statuses).toMatchObject([{ sha: COMMIT, name: 'ci-insights', pipeline_id: '9' }]);
  expect(host.statuses[0]?.target_url).toBeUndefined();
});
