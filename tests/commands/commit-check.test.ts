/** The one check of a commit, on servers that answer as each host does. */
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import type { HostKindName } from '../../src/domain/host-page.ts';
import type { CheckAnnotation, CheckHost, WantedCheck } from '../../src/hosts/writes/check-host.ts';
import { keepCheck } from '../../src/hosts/writes/keep-check.ts';
import { markerKey } from '../../src/hosts/writes/marker.ts';
import { ChecksHost } from '../support/check-host.ts';
import { HOST_TOKEN, SELF } from '../support/pull-host.ts';
import { REMOTES, remoteAt } from '../support/remotes.ts';

const COMMIT = '1111111111111111111111111111111111111111';
const KEY = markerKey({ owner: 'acme', name: 'shop' });
let host: ChecksHost;
beforeEach(() => {
  host = new ChecksHost();
});
afterEach(() => host.stop());

const PIPELINE = { project: 'acme/web/shop', id: '9' };
const at = (kind: HostKindName): CheckHost =>
  remoteAt(kind, host.origin, kind === 'gitlab' ? { pipeline: PIPELINE } : {}).check(COMMIT, KEY);
const github = () => at('github');
const gitlab = () => at('gitlab');
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

const STORED: Readonly<Record<HostKindName, () => [string, string][]>> = {
  github: () => host.checks.map(({ conclusion, output }) => [conclusion, output.title]),
  gitlab: () => host.statuses.map(({ state, description }) => [state, description]),
  gitea: () => host.giteaStatuses.slice(-1).map(({ state, description }) => [state, description]),
  'bitbucket-cloud': () => host.builds.map(({ state, description }) => [state, description]),
  'bitbucket-data-center': () => host.builds.map(({ state, description }) => [state, description]),
};
/** How each says failure and success. */
const WORDS: Readonly<Record<HostKindName, readonly [string, string]>> = {
  github: ['failure', 'success'],
  gitlab: ['failed', 'success'],
  gitea: ['failure', 'success'],
  'bitbucket-cloud': ['FAILED', 'SUCCESSFUL'],
  'bitbucket-data-center': ['FAILED', 'SUCCESSFUL'],
};

describe.each(REMOTES)('on %s', (name, kind) => {
  const on = () => at(kind);
  const stored = STORED[kind];
  const [failed, succeeded] = WORDS[kind];

  test('it is written once, then updated, and left alone when nothing differs', async () => {
    expect(await keep(on(), null)).toBe('nothing');
    expect(host.changes).toEqual([]);
    expect(await keep(on(), saying('1 failure'))).toBe('created');
    expect(await keep(on(), saying('1 failure'))).toBe('unchanged');
    expect(host.changes).toHaveLength(1);
    expect(stored()).toEqual([[failed, '1 failure']]);
    expect(await keep(on(), saying('All clear', { conclusion: 'success' }))).toBe('updated');
    expect(stored()).toEqual([[succeeded, 'All clear']]);
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
