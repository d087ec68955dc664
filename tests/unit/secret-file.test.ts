/** A secret in a file is the secret in the variable, for each of them. */
import { afterAll, expect, test } from 'bun:test';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig, SETTINGS, secretsOf } from '../../src/config.ts';
import { SECRET_SETTINGS } from '../../src/secret-file.ts';
import { makeFolder } from '../support/folder.ts';

const folder = makeFolder('secrets');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const OTHERS = {
  ROLE: 'api',
  HOSTS: 'github; gitlab',
  PUBLIC_URL: 'https://ci-insights.acme.example',
  OIDC_ISSUER: 'https://login.acme.example',
  UPLOADS_KEPT_DAYS: '7',
  UPLOADS_KEPT_S3: 's3://acme/kept',
  S3_ACCESS_KEY_ID: 'ci-insights',
  OIDC_CLIENT_ID: 'ci-insights',
  OIDC_ACCESS: 'group:platform admin *',
  OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
};
const VALUES: Record<(typeof SECRET_SETTINGS)[number], string> = {
  DATABASE_URL: 'postgresql://user:first-password@host/database',
  DATABASE_DIRECT_URL: 'postgresql://user:second-password@host/database',
  REDIS_URL: 'rediss://user:third-password@host:6379',
  CLICKHOUSE_URL: 'https://user:fourth-password@host:8443',
  HOST_TOKENS: 'github=ghp_0123456789abcdef,gitlab=glpat-0123456789abcdef',
  HOST_WEBHOOK_SECRETS: 'github=0123456789abcdef,gitlab=fedcba9876543210',
  OIDC_CLIENT_SECRET: 'fifth-password-of-the-client',
  S3_SECRET_ACCESS_KEY: 'seventh-password-of-the-store',
  OTEL_EXPORTER_OTLP_HEADERS: 'authorization=sixth-password',
};
const inFile = (name: string, text: string): string => {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
};

test('each has the same meaning in a file, with a line for each part and white space around', () => {
  const given = readConfig({ ...OTHERS, ...VALUES });
  for (const name of SECRET_SETTINGS) {
    const { [name]: value, ...rest } = VALUES;
    const file = inFile(name, `\n ${value.replaceAll(',', '\n ')} \n`);
    const read = readConfig({ ...OTHERS, ...rest, [`${name}_FILE`]: file });
    expect([name, read]).toEqual([name, given]);
    // So the log filters it, too.
    expect(secretsOf(read)).toEqual(secretsOf(given));
  }
});

test('a file that is not there, is empty, or stands beside the variable is refused by name', () => {
  for (const name of SECRET_SETTINGS) {
    const { [name]: value, ...rest } = VALUES;
    const reading = (environment: Record<string, string>) => () => readConfig({ ...OTHERS, ...rest, ...environment });
    expect(reading({ [`${name}_FILE`]: join(folder, 'nope') })).toThrow(`${name}_FILE names`);
    expect(reading({ [`${name}_FILE`]: inFile('empty', ' \n') })).toThrow('which is empty');
    const both = { [name]: value, [`${name}_FILE`]: inFile('both', value) };
    expect(reading(both)).toThrow(`Set ${name} or ${name}_FILE, not both.`);
  }
});

test('every setting whose value the log must not show is one of them', () => {
  // The key of an App is always in a file.
  const named = SETTINGS.filter((name) => /SECRET|TOKENS$|HEADERS|_URL$/.test(name));
  const open = ['PUBLIC_URL'];
  expect(named.filter((name) => !open.includes(name)).sort()).toEqual([...SECRET_SETTINGS].sort());
});
