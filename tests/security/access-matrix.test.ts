/**
 * Who may do what, at every route: the rows below are compared with the routes of the service and with its document, so a
 * new route without a row fails. Every row is asked with every kind of credential.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { boundsOfKey } from '../../src/domain/report-bounds.ts';
import { PUBLIC_PER_SECOND_MAX } from '../../src/http/operation.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

/**
 * `public`: anyone. `credential`: any that is accepted; `agent`: the same, and who has none is told where to sign in.
 * `read`, `upload`, `quarantine`, `events`, `administer`: on the repository of the path. `operator`: an admin key or
 * session of every owner; `board`: the same, else a browser is asked. `page`: anyone on a page of the service. `key`: any
 * key, or a session made from one. `session`: any session. `signature`: the host's. `nothing`: refused with 404 or 405 for
 * everyone.
 */
type Rule =
  | 'public'
  | 'credential'
  | 'agent'
  | 'operator'
  | 'key'
  | 'session'
  | 'read'
  | 'upload'
  | 'quarantine'
  | 'events'
  | 'administer'
  | 'board'
  | 'page'
  | 'signature'
  | 'nothing';

const REPOSITORY = '/v1/ci/:owner/repositories/:repository';
const ROWS: Record<string, Rule> = {
  'GET /': 'public',
  'GET /docs': 'public',
  'GET /docs/json': 'public',
  'GET /docs/assets/swagger-ui-bundle.js': 'public',
  'GET /docs/assets/swagger-ui.css': 'public',
  'GET /healthz/live': 'public',
  'GET /healthz/ready': 'public',
  'GET /metrics': 'public',
  'GET /cli/ci-insights.mjs': 'public',
  'GET /cli/ci-insights.mjs.sha256': 'public',
  'GET /cli/:version/ci-insights.mjs': 'public',
  'GET /app': 'public',
  'GET /app/*': 'public',
  'GET /assets/:file': 'public',
  'GET /admin/queues': 'board',
  'GET /admin/queues/': 'board',
  'GET /admin/queues/*': 'board',
  'POST /webhooks/:host': 'signature',
  'GET /v1/application': 'key',
  'GET /sign-in/oidc': 'public',
  'GET /sign-in/oidc/callback': 'public',
  'POST /v1/people/forget': 'operator',
  'GET /v1/people/:pseudonym': 'operator',
  'GET /v1/people/forget': 'nothing',
  'POST /v1/verifications': 'operator',
  'GET /v1/verifications/:verification_id': 'operator',
  'POST /v1/session': 'page',
  'GET /v1/session': 'credential',
  'GET /v1/sessions': 'operator',
  'DELETE /v1/sessions/:session_id': 'operator',
  'GET /v1/dead-letters': 'operator',
  'POST /v1/dead-letters/:dead_letter_id/replay': 'operator',
  'GET /v1/service': 'operator',
  'GET /v1/uploads': 'operator',
  'GET /v1/audit': 'operator',
  'GET /v1/keys': 'operator',
  'POST /v1/keys': 'operator',
  'DELETE /v1/keys/:key_id': 'operator',
  // With an identity token of a CI, which no credential replaces; without issuers it does not exist.
  'POST /v1/auth/ci': 'public',
  'GET /v1/repositories': 'credential',
  'GET /v1/repositories/changes': 'credential',
  'POST /mcp': 'agent',
  'GET /skill.md': 'public',
  'GET /.well-known/oauth-protected-resource': 'public',
  'GET /.well-known/oauth-protected-resource/mcp': 'public',
  'GET /v1/repos/:owner/:repository/logs': 'events',
  'GET /v1/repos/:owner/:repository/logs/aggregate': 'events',
  'POST /v1/repos/:owner/:repository/ci/traces': 'upload',
  [`POST ${REPOSITORY}/traces`]: 'upload',
  [`POST ${REPOSITORY}/junit`]: 'upload',
  [`POST ${REPOSITORY}/playwright`]: 'upload',
  [`POST ${REPOSITORY}/go-test`]: 'upload',
  [`POST ${REPOSITORY}/trx`]: 'upload',
  [`POST ${REPOSITORY}/robot`]: 'upload',
  [`POST ${REPOSITORY}/testng`]: 'upload',
  [`POST ${REPOSITORY}/ctrf`]: 'upload',
  [`POST ${REPOSITORY}/allure`]: 'upload',
  [`POST ${REPOSITORY}/cucumber`]: 'upload',
  [`POST ${REPOSITORY}/tap`]: 'upload',
  [`POST ${REPOSITORY}/nunit`]: 'upload',
  [`POST ${REPOSITORY}/xunit`]: 'upload',
  [`POST ${REPOSITORY}/bazel`]: 'upload',
  [`GET ${REPOSITORY}/uploads`]: 'read',
  [`GET ${REPOSITORY}/uploads/:upload_id`]: 'read',
  [`GET ${REPOSITORY}/settings`]: 'read',
  [`PATCH ${REPOSITORY}/settings`]: 'administer',
  [`DELETE ${REPOSITORY}`]: 'administer',
  [`GET ${REPOSITORY}/deletions`]: 'administer',
  [`POST ${REPOSITORY}/tests/forget`]: 'administer',
  [`GET ${REPOSITORY}/forgotten-tests`]: 'administer',
  [`GET ${REPOSITORY}/owners`]: 'read',
  [`POST ${REPOSITORY}/owners/preview`]: 'administer',
  [`GET ${REPOSITORY}/codeowners`]: 'read',
  [`PUT ${REPOSITORY}/codeowners`]: 'upload',
  [`GET ${REPOSITORY}/search/tests`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/stats/:stat`]: 'read',
  [`GET ${REPOSITORY}/tests/stats/:stat`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/segments`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/failures`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/failures/:failure_id`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/executions`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/axes`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/history`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/history/:execution_id`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/prompt`]: 'read',
  [`GET ${REPOSITORY}/commits/:commit_sha/failures`]: 'read',
  [`GET ${REPOSITORY}/commits/:commit_sha/failures/:test_id/prompt`]: 'read',
  [`POST ${REPOSITORY}/claims`]: 'read',
  [`GET ${REPOSITORY}/host`]: 'read',
  [`PUT ${REPOSITORY}/commits/:commit_sha/changed-files`]: 'upload',
  [`PUT ${REPOSITORY}/pull-requests`]: 'upload',
  [`PUT ${REPOSITORY}/pulls/:number/comment`]: 'upload',
  [`GET ${REPOSITORY}/health-transitions`]: 'read',
  [`GET ${REPOSITORY}/health-transitions/by-day`]: 'read',
  [`GET ${REPOSITORY}/red-runs`]: 'read',
  [`GET ${REPOSITORY}/pulls`]: 'read',
  [`GET ${REPOSITORY}/causes`]: 'read',
  [`GET ${REPOSITORY}/causes/:cause_id`]: 'read',
  [`GET ${REPOSITORY}/causes/:cause_id/prompt`]: 'read',
  [`GET ${REPOSITORY}/pulls/:number`]: 'read',
  [`GET ${REPOSITORY}/setup`]: 'read',
  [`GET ${REPOSITORY}/quarantine-effects`]: 'read',
  [`GET ${REPOSITORY}/lanes`]: 'read',
  [`GET ${REPOSITORY}/red-runs/by-day`]: 'read',
  [`GET ${REPOSITORY}/cost`]: 'read',
  [`GET ${REPOSITORY}/durations`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/explanation`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/recovery`]: 'read',
  [`GET ${REPOSITORY}/tests/:test_id/health-transitions`]: 'read',
  [`GET ${REPOSITORY}/runs`]: 'read',
  [`GET ${REPOSITORY}/runs/:id`]: 'read',
  [`GET ${REPOSITORY}/tests/runs`]: 'nothing',
  [`GET ${REPOSITORY}/tests/stats`]: 'nothing',
  [`GET ${REPOSITORY}/tests/forget`]: 'nothing',
  [`GET ${REPOSITORY}/flaky-detection-context`]: 'read',
  [`GET ${REPOSITORY}/test-selection`]: 'read',
  [`GET ${REPOSITORY}/quarantines`]: 'read',
  [`POST ${REPOSITORY}/quarantines`]: 'quarantine',
  [`GET ${REPOSITORY}/quarantines/:quarantine_id`]: 'read',
  [`PATCH ${REPOSITORY}/causes/:cause_id`]: 'quarantine',
  [`POST ${REPOSITORY}/causes/:cause_id/quarantine`]: 'quarantine',
  [`DELETE ${REPOSITORY}/causes/:cause_id/quarantine`]: 'quarantine',
  [`PATCH ${REPOSITORY}/quarantines/:quarantine_id`]: 'quarantine',
  [`DELETE ${REPOSITORY}/quarantines/:quarantine_id`]: 'quarantine',
  [`POST ${REPOSITORY}/quarantines/:quarantine_id/restore`]: 'quarantine',
  [`GET ${REPOSITORY}/renames`]: 'read',
  [`POST ${REPOSITORY}/renames`]: 'quarantine',
  [`PATCH ${REPOSITORY}/renames/:rename_id`]: 'quarantine',
  // Own views; tests/http/views.test.ts asks for those of everyone.
  [`GET ${REPOSITORY}/views`]: 'read',
  [`POST ${REPOSITORY}/views`]: 'read',
  [`DELETE ${REPOSITORY}/views/:view_id`]: 'read',
  [`POST ${REPOSITORY}/backtests`]: 'quarantine',
  [`GET ${REPOSITORY}/backtests`]: 'read',
  [`GET ${REPOSITORY}/backtests/:backtest_id`]: 'read',
  [`GET ${REPOSITORY}/import`]: 'read',
  [`POST ${REPOSITORY}/import`]: 'administer',
  [`DELETE ${REPOSITORY}/import`]: 'administer',
  [`POST ${REPOSITORY}/quarantines/check`]: 'read',
  [`POST ${REPOSITORY}/split`]: 'read',
  [`GET ${REPOSITORY}/quarantines/check`]: 'nothing',
  [`PATCH ${REPOSITORY}/quarantines/check`]: 'nothing',
  [`DELETE ${REPOSITORY}/quarantines/check`]: 'nothing',
  // Last, because it ends the session that asks.
  'DELETE /v1/session': 'session',
};

/** The routes that need no credential, and what bounds the work that anyone may ask of them. */
const MEMORY = 'the answer is in memory or a file of the package';
const SHARED = 'made at most once at a time or a second, for all who ask; never refused, because probes ask';
const BUDGET = 'its own budget for each second';
const BOUNDS: Record<string, string> = {
  'GET /': MEMORY,
  'GET /docs': MEMORY,
  'GET /docs/json': MEMORY,
  'GET /docs/assets/swagger-ui-bundle.js': MEMORY,
  'GET /docs/assets/swagger-ui.css': MEMORY,
  'GET /app': MEMORY,
  'GET /app/*': MEMORY,
  'GET /assets/:file': MEMORY,
  'GET /skill.md': MEMORY,
  'GET /.well-known/oauth-protected-resource': MEMORY,
  'GET /.well-known/oauth-protected-resource/mcp': MEMORY,
  'GET /healthz/live': SHARED,
  'GET /healthz/ready': SHARED,
  'GET /metrics': SHARED,
  'GET /cli/ci-insights.mjs': MEMORY,
  'GET /cli/ci-insights.mjs.sha256': MEMORY,
  'GET /cli/:version/ci-insights.mjs': MEMORY,
  'GET /sign-in/oidc': BUDGET,
  'GET /sign-in/oidc/callback': BUDGET,
  'POST /v1/session': BUDGET,
  'POST /v1/auth/ci': 'budgets for signatures and for the keys of a repository: tests/http/ci-exchange.test.ts',
  'POST /webhooks/:host':
    'room for bodies; the signature is checked before they are parsed: tests/http/webhooks-room.test.ts',
  'GET /admin/queues': 'a credential of operators is asked for first',
  'GET /admin/queues/': 'a credential of operators is asked for first',
  'GET /admin/queues/*': 'a credential of operators is asked for first',
};

const TEST = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
const { owner, name } = uniqueRepository();
const VALUES: Record<string, string> = {
  host: 'github',
  owner,
  repository: name,
  test_id: TEST,
  failure_id: TEST,
  cause_id: TEST,
  commit_sha: 'c0ffee',
  number: '7',
  id: 'WyJDSSIsIjEiLCIiXQ',
  quarantine_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  upload_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  dead_letter_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  key_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  session_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  pseudonym: 'person-1a2b3c4d5e6f',
  verification_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  execution_id: '7',
  view_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  rename_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6b',
  backtest_id: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a',
  stat: 'mean_duration',
};

let service: ServiceApp;
let routes: string[];
/** By what they are; null is no credential at all. */
let tokens: Record<string, string | null>;
/** The headers of requests with each of the tokens, and with sessions made from some of them. */
let senders: Record<string, Record<string, string>>;

/** Ends the name of a session for which an identity provider vouched. */
const WITHOUT_KEY = ', without a key';
const OWN_PAGE = { 'sec-fetch-site': 'same-origin' };

/** Signs in with a key, and returns what the browser sends afterwards. */
async function signIn(key: string): Promise<Record<string, string>> {
  const response = await fetch(`http://127.0.0.1:${service.port}/v1/session`, {
    method: 'POST',
    headers: { ...OWN_PAGE, 'content-type': 'application/json' },
    body: JSON.stringify({ key }),
  });
  expect(response.status).toBe(201);
  return { cookie: response.headers.get('set-cookie')?.split(';')[0] ?? '' };
}

beforeAll(async () => {
  service = await openServiceApp();
  // HEAD is answered as GET is.
  routes = service.app.routes.filter(({ method }) => method !== 'HEAD').map(({ method, path }) => `${method} ${path}`);
  const { key, token: revoked } = await service.keys.create({
    name: 'revoked',
    owner: null,
    scope: 'admin',
    repositories: null,
    expiresAt: null,
  });
  await service.keys.revoke(key.id);
  const bound = { owner, scope: 'upload' } as const;
  const keyOfJob = async (scope: 'upload' | 'ci') => {
    const run = { branch: 'main', commit: 'c0ffee', pull_request: null, base_ref: null };
    const made = await service.keys.createForCi({
      ...{ name: 'a job', owner, scope, repositories: [name], ciSubject: 'a job', onceOnly: undefined },
      expiresAt: new Date(service.stores.clock.now() + 3_600_000),
      bounds: { pull_requests_only: false, branches: null, is_confined: true, run },
    });
    return made?.token ?? '';
  };
  tokens = {
    none: null,
    unknown: 'cii_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    revoked,
    expired: await service.makeKey({ scope: 'admin', expiresAt: new Date(service.stores.clock.now() - 1) }),
    'ci of another owner': await service.makeKey({ owner: 'another' }),
    'admin of another owner': await service.makeKey({ owner: 'another', scope: 'admin' }),
    'ci of another repository': await service.makeKey({ owner, repositories: ['another'] }),
    'admin of another repository': await service.makeKey({ owner, repositories: ['another'], scope: 'admin' }),
    'ci of the repository': await service.makeKey({ owner, repositories: [name] }),
    'ci of the owner': await service.makeKey({ owner }),
    'ci of every owner': await service.makeKey(),
    'admin of the owner': await service.makeKey({ owner, scope: 'admin' }),
    'admin of every owner': await service.makeKey({ scope: 'admin' }),
    'view of the owner': await service.makeKey({ owner, scope: 'view' }),
    'view of another owner': await service.makeKey({ owner: 'another', scope: 'view' }),
    'upload of the owner': await service.makeKey({ owner, scope: 'upload' }),
    'upload of the owner, for pull requests': await service.makeKey({ ...bound, bounds: boundsOfKey(true, null) }),
    'upload of the owner, for branches': await service.makeKey({ ...bound, bounds: boundsOfKey(false, ['main']) }),
    'upload of another owner': await service.makeKey({ owner: 'another', scope: 'upload' }),
    'upload of another repository': await service.makeKey({ owner, repositories: ['another'], scope: 'upload' }),
    'upload of a CI job': await keyOfJob('upload'),
    'ci of a CI job': await keyOfJob('ci'),
  };
  senders = Object.fromEntries(
    Object.entries(tokens).map(([kind, token]) => [kind, token === null ? {} : { authorization: `Bearer ${token}` }]),
  );
  for (const kind of [
    'ci of the owner',
    'view of the owner',
    'upload of the owner, for pull requests',
    'admin of every owner',
    'admin of another owner',
    'admin of another repository',
  ]) {
    const session = await signIn(tokens[kind] ?? '');
    senders[`session: ${kind}`] = { ...session, ...OWN_PAGE };
    senders[`session on http: ${kind}`] = {
      ...(await signIn(tokens[kind] ?? '')),
      origin: `http://127.0.0.1:${service.port}`,
    };
    senders[`session of a foreign page: ${kind}`] = { ...session, 'sec-fetch-site': 'cross-site' };
    senders[`session of a page beside: ${kind}`] = { ...session, 'sec-fetch-site': 'same-site' };
    senders[`session of a foreign page on http: ${kind}`] = { ...session, origin: 'http://evil.example' };
    senders[`session of no page: ${kind}`] = session;
  }
  // The same rights by the identity provider's word.
  for (const [kind, scope, place] of [
    ['admin of every owner', 'admin', null],
    ['view of the owner', 'view', owner],
    ['admin of another owner', 'admin', 'another'],
  ] as const) {
    const grant = { keyId: null, actor: 'ann', scope, owner: place, repositories: null };
    const { token } = await service.stores.sessions.begin(grant);
    senders[`session: ${kind}${WITHOUT_KEY}`] = { cookie: `ci_insights_session=${token}`, ...OWN_PAGE };
  }
  senders['session in the header'] = {
    authorization: `Bearer ${senders['session: admin of every owner']?.cookie?.split('=')[1]}`,
  };
  senders['key in the cookie'] = { cookie: `ci_insights_session=${service.adminToken}`, ...OWN_PAGE };
  const ended = await signIn(tokens['admin of every owner'] ?? '');
  await fetch(`http://127.0.0.1:${service.port}/v1/session`, { method: 'DELETE', headers: { ...ended, ...OWN_PAGE } });
  senders['session that has ended'] = { ...ended, ...OWN_PAGE };
});
afterAll(async () => {
  service.stores.clock.set(TEST_NOW);
  await service.stop();
});

/**
 * How a route must treat a credential: `asks` for one, `refused`, `hidden` as if the repository did not exist, or `open`.
 */
type Outcome = 'open' | 'refused' | 'hidden' | 'asks' | 'nothing';

function expected(rule: Rule, sender: string, isRead: boolean): Outcome {
  if (rule === 'public') return 'open';
  if (rule === 'page') return FROM_OWN_PAGE.test(sender) ? 'open' : 'refused';
  if (rule === 'nothing') return 'nothing';
  if (rule === 'signature') return 'refused';
  if (rule === 'board')
    return /^(session[^:]*: )?admin of every owner(, without a key)?$/.test(sender) ? 'open' : 'asks';
  if (rule === 'agent' && UNACCEPTED.includes(sender) && !FROM_OWN_PAGE.test(sender)) return 'asks';
  if (UNACCEPTED.includes(sender)) return 'refused';
  const isForeign = sender.startsWith('session of ');
  if (isForeign && !isRead) return 'refused';
  const credential = sender.replace(/^session[^:]*: /, '').replace(WITHOUT_KEY, '');
  if (rule === 'key') return sender.endsWith(WITHOUT_KEY) ? 'refused' : 'open';
  if (rule === 'credential' || rule === 'agent') return 'open';
  if (rule === 'operator') return credential === 'admin of every owner' ? 'open' : 'refused';
  if (rule === 'session') return sender.startsWith('session') ? 'open' : 'refused';
  if (credential.endsWith('another owner')) return 'refused';
  if (credential.endsWith('another repository')) return 'hidden';
  if (rule === 'events' && /^(?:ci|upload) /.test(credential)) return 'refused';
  if (rule === 'quarantine' && credential.startsWith('upload ')) return 'refused';
  if (rule === 'administer' && !credential.startsWith('admin ')) return 'refused';
  if ((rule === 'upload' || rule === 'quarantine') && credential.startsWith('view ')) return 'refused';
  return 'open';
}

/** Senders whose requests say that a page of the service makes them. */
const FROM_OWN_PAGE = /^(?:session(?::| on http:| that has ended)|key in the cookie)/;

const UNACCEPTED = [
  'none',
  'unknown',
  'revoked',
  'expired',
  'session in the header',
  'key in the cookie',
  'session that has ended',
];

async function outcomeOf(response: Response, rule: Rule): Promise<Outcome> {
  const { status } = response;
  if (status >= 500) throw new Error(`${response.url} answered ${status}`);
  if (status === 401) return 'asks';
  if (status === 403) return 'refused';
  if (rule === 'nothing' && (status === 404 || status === 405)) return 'nothing';
  const isHidden =
    status === 404 && (await response.text()).includes('There is no such repository for this credential');
  return isHidden ? 'hidden' : 'open';
}

const ask = (route: string, token: string | null): Promise<Response> =>
  askAs(route, token === null ? {} : { authorization: `Bearer ${token}` });

const askAs = (route: string, headers: Record<string, string>): Promise<Response> => {
  const [method = '', path = ''] = route.split(' ');
  // A repository has other statistics than a test.
  const values = path.includes('/tests/stats/') ? { ...VALUES, stat: 'total_tests' } : VALUES;
  const filled = path.replace(/:(\w+)/g, (_, parameter: string) => values[parameter] ?? 'x').replace('*', 'api/queues');
  return fetch(`http://127.0.0.1:${service.port}${filled}`, {
    method,
    redirect: 'manual',
    headers: { accept: 'text/html, */*', ...headers },
    ...(method === 'POST' ? { body: '{}' } : {}),
  });
};

test('every route has a row, and every row a route', () => {
  expect(routes.toSorted()).toEqual(Object.keys(ROWS).toSorted());
});

describe('what anyone may ask for', () => {
  const byAnyone = Object.entries(ROWS).filter(([, rule]) => ['public', 'page', 'signature', 'board'].includes(rule));
  const bounded = (bound: string) => Object.keys(BOUNDS).filter((route) => BOUNDS[route] === bound);
  const statuses = async (route: string, count: number): Promise<number[]> => {
    const all = [];
    for (let i = 0; i < count; i++) all.push((await askAs(route, OWN_PAGE)).status);
    return all;
  };

  test('is listed with what bounds it', () => {
    expect(byAnyone.map(([route]) => route).toSorted()).toEqual(Object.keys(BOUNDS).toSorted());
  });

  test.each(bounded(BUDGET))('%s has its own budget, and room again in the next second', async (route) => {
    const { clock } = service.stores;
    clock.at += 1_000;
    const found = await statuses(route, PUBLIC_PER_SECOND_MAX + 1);
    expect([found[0] === 503, found.at(-1)]).toEqual([false, 503]);
    const refused = await askAs(route, OWN_PAGE);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1']);
    for (const other of bounded(BUDGET).filter((one) => one !== route))
      expect([other, (await statuses(other, 1))[0] === 503]).toEqual([other, false]);
    clock.at += 1_000;
    expect((await askAs(route, OWN_PAGE)).status).not.toBe(503);
  });

  const isDelivered = (route: string) => route.startsWith('GET /cli/');
  test.each([...bounded(SHARED), ...bounded(MEMORY).filter(isDelivered)])(
    '%s is never refused, however many ask',
    async (route) => {
      expect((await statuses(route, PUBLIC_PER_SECOND_MAX + 1)).includes(503)).toBe(false);
    },
  );

  test('deliveries of the host are never refused for their number: it sends none again', async () => {
    const found = await statuses('POST /webhooks/:host', PUBLIC_PER_SECOND_MAX + 1);
    expect(found.includes(503)).toBe(false);
  });
});

test('the document says of every operation whether it needs a credential, as its row does', async () => {
  const { paths } = await service.get<{ paths: Record<string, Record<string, { security: object[] }>> }>('/docs/json');
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { security }]) => {
      const routed = path.replace(/\{(\w+)\}/g, ':$1').replace(':repository_name', ':repository');
      const route = `${method.toUpperCase()} ${routed}`;
      return [route, ROWS[route], security.length > 0];
    }),
  );
  expect(documented.length).toBeGreaterThan(20);
  const needing = [
    'credential',
    'agent',
    'operator',
    'key',
    'session',
    'read',
    'upload',
    'quarantine',
    'events',
    'administer',
  ];
  for (const [route, rule, isNeeded] of documented)
    expect([route, rule, isNeeded]).toEqual([route, rule, needing.includes(String(rule))]);
});

test('every route treats every kind of credential as its row says', async () => {
  const wrong: string[] = [];
  for (const [route, rule] of Object.entries(ROWS))
    for (const [sender, headers] of Object.entries(senders)) {
      const response = await askAs(route, headers);
      // No more in a second than anyone may ask.
      service.stores.clock.at += 50;
      const outcome = await outcomeOf(response, rule);
      const wanted = expected(rule, sender, route.startsWith('GET '));
      if (outcome !== wanted) wrong.push(`${route} with "${sender}": ${outcome} (${response.status}), not ${wanted}`);
    }
  expect(wrong).toEqual([]);
});

test('every answer, also a refusal, tells browsers what it is and that no page may frame it', async () => {
  for (const route of routes)
    for (const token of [null, tokens['admin of every owner'] ?? null]) {
      const { headers } = await ask(route, token);
      expect([route, headers.get('x-content-type-options'), headers.get('referrer-policy')]).toEqual([
        route,
        'nosniff',
        'no-referrer',
      ]);
      expect([route, headers.get('content-security-policy')]).toEqual([
        route,
        expect.stringMatching(/^default-src 'none';.*frame-ancestors 'none'$/),
      ]);
      expect(headers.get('content-security-policy')).not.toMatch(/script-src[^;]*(unsafe|\*|https?:)/);
    }
  for (const path of ['/nope', '//nope', '/v1/nope'])
    expect((await ask(`GET ${path}`, null)).headers.get('x-content-type-options')).toBe('nosniff');
});

test('a word in the place of an id is another address: 404 or 405 with Allow, not a malformed id', async () => {
  const check = await ask(`GET ${REPOSITORY}/quarantines/check`, service.adminToken);
  expect([check.status, check.headers.get('allow')]).toEqual([405, 'POST']);
  for (const word of ['runs', 'stats'])
    expect((await ask(`GET ${REPOSITORY}/tests/${word}`, service.adminToken)).status).toBe(404);
});

test('dots in a path reach no other repository', async () => {
  const token = tokens['ci of the repository'] ?? '';
  for (const dots of ['..', '%2e%2e', '%2E.', '..%2f..', '.%00'])
    for (const path of [
      `/v1/ci/${owner}/repositories/${dots}/search/tests?test_name=*`,
      `/v1/ci/${owner}/repositories/${name}/../another/search/tests?test_name=*`,
      `/v1/ci/another/repositories/x/${dots}/${dots}/${dots}/${owner}/repositories/another/quarantines`,
    ]) {
      const { status } = await fetch(`http://127.0.0.1:${service.port}${path}`, {
        headers: { authorization: `Bearer ${token}` },
      });
      expect([path, status >= 400 && status < 500]).toEqual([path, true]);
    }
});

test('a browser is led from the root to the web application, and a client gets 404', async () => {
  const asked = (accept: string) => fetch(`http://127.0.0.1:${service.port}/`, { headers: { accept } });
  const page = await asked('text/html,application/xhtml+xml;q=0.9');
  expect([page.status, new URL(page.url).pathname]).toEqual([200, '/app']);
  for (const accept of ['*/*', 'application/json']) {
    const refused = await asked(accept);
    expect([refused.status, refused.headers.get('content-type')]).toEqual([404, 'application/problem+json']);
  }
});

test('markup from test results is answered as data: JSON that browsers do not take for anything else', async () => {
  const markup = `<script>alert(1)</script><img src=x onerror=alert(1)> ${crypto.randomUUID()}`;
  const quarantines = `/v1/ci/${owner}/repositories/${name}/quarantines`;
  const send = (path: string, body?: object) =>
    fetch(`http://127.0.0.1:${service.port}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        authorization: `Bearer ${service.adminToken}`,
        'content-type': 'application/json',
        accept: 'text/html',
      },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
  const created = { test_name: markup, reason: markup };
  expect((await send(quarantines, created)).status).toBe(201);
  const answers = [
    await send(quarantines, created),
    await send(quarantines),
    await send(`/v1/ci/${owner}/repositories/${name}/search/tests?test_name=${encodeURIComponent(markup)}&sort=<b>`),
    await send(`/<script>alert(1)</script>`),
  ];
  expect(answers.map(({ status }) => status)).toEqual([409, 200, 422, 404]);
  for (const { headers } of answers) {
    expect(headers.get('content-type')).toMatch(/^application\/(problem\+)?json$/);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toStartWith("default-src 'none'");
  }
});
