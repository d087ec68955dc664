/** No secret reaches the log, however it is written. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { readConfig, secretsOf } from '../../src/config.ts';
import { createLogger } from '../../src/observability/log.ts';

const DATABASE_PASSWORD = 'dbpass-7f3a9c';
const REDIS_PASSWORD = 'redis/pass+word';
const CLICKHOUSE_PASSWORD = 'ch-secret-1b2c';
const WEBHOOK_SECRET = 'webhook-secret-0123456789';
const TRACING_TOKEN = 'tracing-token-abcdef';
const KEY = 'cii_Zm9vYmFyYmF6cXV4Zm9vYmFyYmF6cXV4Zm9v';
const HOST_TOKEN = 'ghp_1234567890abcdefghij1234567890abcdef';

const config = readConfig({
  DATABASE_URL: `postgresql://user:${DATABASE_PASSWORD}@db.acme.example/ci`,
  REDIS_URL: `rediss://:${encodeURIComponent(REDIS_PASSWORD)}@redis.acme.example:6379`,
  CLICKHOUSE_URL: `http://user:${CLICKHOUSE_PASSWORD}@ch.acme.example:8123`,
  HOST_WEBHOOK_SECRETS: `github=${WEBHOOK_SECRET}`,
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
  OTEL_EXPORTER_OTLP_HEADERS: `authorization=${TRACING_TOKEN}`,
});
const CONFIGURED = [DATABASE_PASSWORD, REDIS_PASSWORD, CLICKHOUSE_PASSWORD, WEBHOOK_SECRET, TRACING_TOKEN];

function logged(write: (log: ReturnType<typeof createLogger>) => void, secrets = secretsOf(config)): string {
  const lines: string[] = [];
  write(createLogger('debug', { write: (line) => void lines.push(line) }, secrets));
  return lines.join('');
}

/** Thrown by ioredis like this: with the refused command and its arguments. */
const refusedAuthentication = Object.assign(new Error('WRONGPASS invalid username-password pair'), {
  command: { name: 'auth', args: ['default', 'never-configured-password'] },
});
/** Thrown by Drizzle like this. */
const failedQuery = Object.assign(
  new Error('Failed query: select 1 where a = $1\nparams: a-parameter,\nof-two-lines'),
  {
    query: 'select 1 where a = $1',
    params: ['a-parameter'],
    cause: Object.assign(new Error('connection refused'), { code: 'ECONNREFUSED', detail: 'Key (x)=(a-parameter)' }),
  },
);

test('the passwords of every address are secrets: direct, of sentinels, of several hosts, as parameters', () => {
  const secretsOfUrls = (urls: Record<string, string>) => secretsOf(readConfig(urls));
  const database = 'postgres://user:pooler-password@pool.acme.example/ci';
  expect(
    secretsOfUrls({
      DATABASE_URL: database,
      DATABASE_DIRECT_URL: 'postgres://user:direct%2Fpassword@db.acme.example/ci?sslpassword=of-the-certificate',
      CLICKHOUSE_URL: 'http://ch.acme.example:8123?user=ci&password=as-a-parameter',
    }),
  ).toEqual(expect.arrayContaining(['pooler-password', 'direct/password', 'of-the-certificate', 'as-a-parameter']));
  for (const [url, passwords] of [
    [
      'redis+sentinel://:of-the-master@a:26379,b:26379/main?sentinel_password=of-sentinels',
      ['of-the-master', 'of-sentinels'],
    ],
    ['rediss+cluster://user:of%2Fcluster@a:6379,b:6379,c:6379', ['of/cluster']],
  ] as const)
    expect(secretsOfUrls({ REDIS_URL: url })).toEqual([...passwords]);
});

describe('the log', () => {
  test('contains no configured secret, in a message, a field, an address or an error', () => {
    for (const secret of CONFIGURED) {
      const text = logged((log) => {
        log.info(`says ${secret}`);
        log.info({ nested: { deep: [secret] } }, 'field');
        log.info({ [`key ${secret}`]: 1 }, 'name of a field');
        log.error({ err: new Error(`in an error ${secret}`, { cause: new Error(secret) }) }, 'error');
        log.info({ url: `postgresql://user:${encodeURIComponent(secret)}@host/x` }, 'address');
      });
      expect(text).not.toContain(secret);
      expect(text).not.toContain(encodeURIComponent(secret));
      expect(
        text
          .trim()
          .split('\n')
          .map((line) => typeof JSON.parse(line)),
      ).toEqual(Array(5).fill('object'));
    }
  });

  test('contains no application key and no token of a repository host, wherever it came from', () => {
    const text = logged((log) => {
      for (const token of [KEY, HOST_TOKEN]) {
        log.info({ request: { path: `/v1?key=${token}` } }, `sent ${token}`);
        log.info({ headers: { authorization: `Bearer ${token}` } }, 'headers');
        log.error({ err: new Error(`fetch failed for ${token}`) }, 'error');
      }
      log.info(`Basic ${btoa('any:some-password')}`);
    }, []);
    for (const secret of [KEY, HOST_TOKEN, btoa('any:some-password')]) expect(text).not.toContain(secret);
  });

  test('contains only harmless parts of an error: no command, no parameters, no details of rows', () => {
    const text = logged((log) => {
      log.warn({ err: refusedAuthentication }, 'refused');
      log.warn({ err: failedQuery }, 'failed');
    });
    expect(text).not.toContain('never-configured-password');
    expect(text).not.toContain('a-parameter');
    expect(text).not.toContain('of-two-lines');
    expect(text).toContain('WRONGPASS');
    expect(text).toContain('Failed query: select 1 where a = $1');
    expect(text).toContain('"code":"ECONNREFUSED"');
  });

  test('a password in an address is hidden, and the host is kept', () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9._~!$&'()*+,;=%-]{1,40}$/), (password) => {
        const text = logged((log) => log.info({ url: `redis://user:${password}@store.acme.example:6379/0` }, 'x'), []);
        expect(text).toContain('redis://[secret]@store.acme.example:6379/0');
      }),
    );
  });
});
