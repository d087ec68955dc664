import { describe, expect, test } from 'bun:test';
import { TEST_NOW } from '../support/clock.ts';
import { FakeHost, troubles } from '../support/fake-host.ts';
import {
  JOB,
  MINUTE,
  openHostApp,
  READER,
  SECOND,
  STRANGER,
  setUpHostApp,
  UNKNOWN,
  WRITER,
} from '../support/host-app.ts';

const t = setUpHostApp();

describe('a host in trouble', () => {
  const cases = {
    'an error of the server': troubles.status(500),
    'a gateway that gives up': troubles.status(502),
    'a status that means nothing here': troubles.status(418),
    'no JSON': troubles.garbled('<html>'),
    'JSON of another shape': troubles.garbled('{"login":7,"permissions":{"pull":"yes"}}'),
    'an empty body': troubles.garbled(''),
    'a connection that breaks': troubles.dropped(),
    'no answer in time': troubles.silent(),
    'an answer that does not end': troubles.stuck(),
    'a redirect to itself': troubles.redirect('/user'),
    'a redirect to nowhere': troubles.redirect(''),
    'too many requests': troubles.status(429),
    'a rate limit that is used up': troubles.status(403, 'API rate limit exceeded', { 'x-ratelimit-remaining': '0' }),
    'a secondary rate limit': troubles.status(403, 'You have exceeded a secondary rate limit'),
  };

  for (const [name, trouble] of Object.entries(cases))
    test(`${name} is 503 with Retry-After, never a yes and never a no`, async () => {
      t.host.beInTrouble(trouble);
      const response = await t.ask(WRITER, t.probe('quarantine'));
      expect(response.status).toBe(503);
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(await response.json()).toMatchObject({ title: 'Service unavailable', detail: expect.any(String) });
      t.host.beInTrouble();
      t.clock.set(TEST_NOW + MINUTE);
      expect(await t.statusOf(WRITER, t.probe('quarantine'))).toBe(200);
      // The same if only the second question meets it.
      t.clock.set(TEST_NOW + 4 * MINUTE);
      t.host.addRepository(`${t.path.owner}/second`);
      t.host.beInTrouble(trouble);
      expect(await t.statusOf(WRITER, `/v1/probe/read/${t.path.owner}/second`)).toBe(503);
      expect(t.logged.join('')).not.toContain(WRITER);
    });

  test('a host that refuses connections is 503, and is asked again seconds later', async () => {
    await t.host.stop();
    expect(await t.outcomeOf(READER)).toEqual([503, '5']);
    await t.host.start();
    t.clock.set(TEST_NOW + 5 * SECOND - 1);
    expect(await t.outcomeOf(READER)).toEqual([503, '1']);
    expect(t.host.requests).toEqual([]);
    t.clock.set(TEST_NOW + 5 * SECOND);
    expect(await t.statusOf(READER)).toBe(200);
  });

  test('a wrong address of the API is 503, not a no for everyone', async () => {
    t.host.beInTrouble(troubles.status(404, 'Not Found'));
    expect(await t.statusOf(READER)).toBe(503);
    expect(t.logged.join('')).toContain('(HOSTS)');
  });

  test('a host that shows repositories but not users still decides, and the actor is a ghost', async () => {
    t.host.beInTrouble((request, response) =>
      request.url === '/user' ? troubles.status(404, 'Not Found')(request, response) : false,
    );
    expect(await (await t.ask(READER, t.probe('read'))).json()).toEqual({ actor: 'ghost' });
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(403);
    expect(await t.statusOf(UNKNOWN)).toBe(403);
  });

  test('a yes that has not expired holds while the host is down, and no longer', async () => {
    expect(await t.statusOf(READER)).toBe(200);
    await t.host.stop();
    t.clock.set(TEST_NOW + 4 * MINUTE);
    expect(await t.statusOf(READER)).toBe(200);
    // This needs a new answer, and its failure revokes nothing.
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(503);
    expect(await t.statusOf(READER)).toBe(200);
    t.clock.set(TEST_NOW + 5 * MINUTE);
    expect(await t.statusOf(READER)).toBe(503);
  });

  test('a rate limit is passed on within bounds, and does not stop other tokens', async () => {
    t.host.addUser('lea', 'ghp_limited');
    const limited = (headers: Record<string, string>) =>
      t.host.beInTrouble((request, response) =>
        request.headers.authorization === 'Bearer ghp_limited'
          ? troubles.status(403, 'API rate limit exceeded', { 'x-ratelimit-remaining': '0', ...headers })(
              request,
              response,
            )
          : false,
      );
    let now = TEST_NOW;
    for (const [headers, seconds] of [
      [{ 'retry-after': '17' }, '17'],
      [{ 'x-ratelimit-reset': String(Math.floor(TEST_NOW / SECOND) + 7_200) }, '60'],
      [{ 'x-ratelimit-reset': '0' }, '5'],
      [{ 'retry-after': 'soon' }, '30'],
    ] as [Record<string, string>, string][]) {
      limited(headers);
      expect([headers, ...(await t.outcomeOf('ghp_limited'))]).toEqual([headers, 503, seconds]);
      now += Number(seconds) * SECOND;
      t.clock.set(now);
    }
    // Ten in a row do not count against the host.
    for (let i = 0; i < 10; i++) {
      now += MINUTE;
      t.clock.set(now);
      expect(await t.statusOf('ghp_limited')).toBe(503);
    }
    expect(await t.statusOf(READER)).toBe(200);
  });
});

describe('the circuit', () => {
  const token = (i: number): string => `ghp_circuit${i}`;
  let next = 0;
  /** Fails for this many new tokens. */
  const fail = async (times: number): Promise<void> => {
    for (let i = 0; i < times; i++) expect(await t.statusOf(token(next++))).toBe(503);
  };

  test('after five failures in a row the host is not asked, and tokens are 503 at once', async () => {
    t.host.beInTrouble(troubles.status(500));
    await fail(5);
    expect(t.host.requests.length).toBe(5);
    expect(await t.outcomeOf(READER)).toEqual([503, '15']);
    t.clock.set(TEST_NOW + 14 * SECOND);
    expect(await t.outcomeOf(READER)).toEqual([503, '1']);
    expect(t.host.requests.length).toBe(5);
    expect(t.logged.filter((line) => line.includes('pausing requests to it')).length).toBe(1);
  });

  test('an answer in between, even a no, resets the count', async () => {
    for (let i = 0; i < 3; i++) {
      t.host.beInTrouble(troubles.status(500));
      await fail(4);
      t.host.beInTrouble();
      expect(await t.statusOf(token(next++))).toBe(403);
    }
    expect(await t.statusOf(READER)).toBe(200);
  });

  test('then one request is tried while the others are still refused; if it fails, the host is not asked again', async () => {
    t.host.beInTrouble(troubles.status(500));
    await fail(5);
    t.clock.set(TEST_NOW + 15 * SECOND);
    t.host.forgetRequests();
    t.host.beInTrouble(troubles.silent());
    const outcomes = await Promise.all([0, 1, 2, 3].map(() => t.outcomeOf(token(next++))));
    expect(outcomes.map(([status]) => status)).toEqual([503, 503, 503, 503]);
    expect(outcomes.filter(([, after]) => after === '1').length).toBe(3);
    expect(t.host.requests.length).toBe(1);
    t.host.beInTrouble();
    expect(await t.outcomeOf(READER)).toEqual([503, '15']);
    expect(t.host.requests.length).toBe(1);
    t.clock.set(TEST_NOW + 30 * SECOND);
    expect(await t.statusOf(READER)).toBe(200);
  });

  test('a clock that is set back does not keep the host from being asked', async () => {
    t.host.beInTrouble(troubles.status(500));
    await fail(5);
    t.host.beInTrouble();
    t.clock.set(TEST_NOW - MINUTE);
    expect(await t.statusOf(READER)).toBe(200);
  });

  test('the first answer closes the circuit for everyone', async () => {
    t.host.beInTrouble(troubles.status(500));
    await fail(5);
    expect(await t.statusOf(READER)).toBe(503);
    t.host.beInTrouble();
    t.clock.set(TEST_NOW + 15 * SECOND);
    expect(await t.statusOf(UNKNOWN)).toBe(403);
    expect(await t.statusOf(READER)).toBe(200);
    expect(await t.statusOf(WRITER, t.probe('quarantine'))).toBe(200);
    expect(t.logged.filter((line) => line.includes('is responding again')).length).toBe(1);
  });

  test('while the circuit is open, a yes that has not expired still holds and no other token gets one', async () => {
    expect(await t.statusOf(READER)).toBe(200);
    t.host.beInTrouble(troubles.status(500));
    await fail(5);
    expect(await t.statusOf(READER)).toBe(200);
    expect(await t.statusOf(WRITER)).toBe(503);
    expect(await t.statusOf(t.app.adminToken)).toBe(200);
  });
});

describe('where requests go', () => {
  test('an enterprise host is asked below the path of its address, with the token of the request', async () => {
    await t.host.stop();
    Object.assign(t, await openHostApp('/api/v3'));
    expect(await t.statusOf(READER)).toBe(200);
    expect(t.host.requests).toEqual([
      { method: 'GET', path: '/api/v3/user', authorization: `Bearer ${READER}` },
      { method: 'GET', path: `/api/v3/repos/${t.fullName}`, authorization: `Bearer ${READER}` },
    ]);
  });

  test('a renamed repository is found under its old name, for those who may see it', async () => {
    t.host.rename(t.fullName, `${t.path.owner}/renamed`);
    expect(await t.statusOf(READER)).toBe(200);
    expect(await t.statusOf(STRANGER)).toBe(404);
    expect(await t.statusOf(READER, t.probe('quarantine'))).toBe(403);
    expect(await t.statusOf(WRITER, t.probe('quarantine'))).toBe(200);
  });

  test('a redirect to another origin is not followed: the token goes nowhere else', async () => {
    const other = await new FakeHost().start();
    other.addUser('rita', READER);
    other.addRepository(t.fullName);
    other.allow('rita', t.fullName, { pull: true, push: true });
    for (const [i, status] of [301, 302, 307, 308].entries()) {
      t.host.beInTrouble(troubles.redirect(`${other.url}/user`, status));
      t.clock.set(TEST_NOW + i * MINUTE);
      expect(await t.statusOf(READER)).toBe(503);
    }
    const sameHost = t.host.url.replace('127.0.0.1', 'localhost');
    t.host.beInTrouble(troubles.redirect(`${sameHost}/user`));
    t.clock.set(TEST_NOW + 5 * MINUTE);
    expect(await t.statusOf(READER)).toBe(503);
    expect(other.requests).toEqual([]);
    expect(t.host.requests.length).toBe(5);
    await other.stop();
  });

  test('no token appears in a log line, an error or an answer, whatever happens', async () => {
    t.host.addInstallation(JOB, [t.fullName]);
    const answers: string[] = [];
    const askAll = async (): Promise<void> => {
      for (const token of [READER, WRITER, STRANGER, UNKNOWN, JOB])
        for (const address of [t.search, t.probe('quarantine'), '/v1/application'])
          answers.push(await (await t.ask(token, address)).text());
    };
    await askAll();
    t.clock.set(TEST_NOW + 10 * MINUTE);
    t.host.beInTrouble(troubles.garbled(JSON.stringify({ login: null, message: READER })));
    await askAll();
    await t.host.stop();
    t.clock.set(TEST_NOW + 20 * MINUTE);
    await askAll();
    expect(t.logged.length).toBeGreaterThan(0);
    for (const token of [READER, WRITER, STRANGER, UNKNOWN, JOB])
      for (const text of [...t.logged, ...answers]) expect(text).not.toContain(token.slice(4));
  });
});
