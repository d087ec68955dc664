/** `npm run demo` fills its own stores only, whatever the environment says. */
import { expect, test } from 'bun:test';
import { demoEnvironment } from '../../scripts/demo.ts';
import { readConfig, SETTINGS } from '../../src/config.ts';
import { SECRET_SETTINGS } from '../../src/secret-file.ts';
import { matrixOf } from '../simulation/lively-matrix.ts';

const YOURS = {
  PATH: '/usr/bin',
  PORT: '4000',
  HOST: '0.0.0.0',
  ROLE: 'api',
  DATA_DIR: '/srv/ci-insights',
  DATABASE_URL: 'postgresql://user:secret@db/production',
  DATABASE_DIRECT_URL: 'postgresql://user:secret@db:5433/production',
  CLICKHOUSE_URL: 'http://user:secret@clickhouse:8123',
  CLICKHOUSE_CLUSTER: 'production',
  REDIS_URL: 'redis://:secret@redis:6379',
  PUBLIC_URL: 'https://ci-insights.acme.example',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
  OTEL_RESOURCE_ATTRIBUTES: 'team=shop',
  PGHOST: 'db',
  PGSSLMODE: 'require',
  CI_INSIGHTS_URL: 'https://ci-insights.acme.example',
  CI_INSIGHTS_TOKEN: 'a key',
};

test('the demo runs on embedded stores in its folder, and listens on this machine only', () => {
  const config = readConfig(demoEnvironment(YOURS, '/tmp/demo'));
  expect(config).toMatchObject({ role: 'all', host: '127.0.0.1', port: 4_000, dataDir: '/tmp/demo' });
  const { databaseUrl, databaseDirectUrl, clickhouseUrl, clickhouseCluster, redisUrl, publicUrl, tracing } = config;
  for (const yours of [databaseUrl, databaseDirectUrl, clickhouseUrl, clickhouseCluster, redisUrl, publicUrl, tracing])
    expect(yours).toBeUndefined();
});

test('no setting of the service or of a driver is passed on, and everything else is', () => {
  const names = [...SETTINGS, ...SECRET_SETTINGS.map((name) => `${name}_FILE`)];
  const given = { ...Object.fromEntries(names.map((name) => [name, 'yours'])), ...YOURS };
  expect(demoEnvironment(given, '/tmp/demo')).toEqual({
    PATH: '/usr/bin',
    DATA_DIR: '/tmp/demo',
    PORT: '4000',
    LOG_LEVEL: 'error',
  });
});

test('the demo has a matrix of two by three, with a test that fails on one combination', () => {
  const run = {
    id: 'r',
    attempt: 1,
    job: 0,
    commit: 'c1',
    isDefaultBranch: true,
    at: 0,
    identities: [],
    troubles: new Map(),
  };
  const jobs = matrixOf([run], Date.parse('2026-11-21T12:00:00Z')).map(({ job }) => job);
  const legs = Map.groupBy(jobs, ({ run: { axes } }) => JSON.stringify(axes));
  expect(legs.size).toBe(6);
  const ill = [...legs].filter(([, own]) => own.some(({ executions }) => executions.status.includes('failed')));
  expect(ill.map(([axes]) => axes)).toEqual(['{"os":"windows","node":"24"}']);
});
