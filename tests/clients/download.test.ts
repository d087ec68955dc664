/** The client as one file: what the service delivers, on the runtimes that a CI job has. */
import { describe, expect, test } from 'bun:test';
import { createHash } from 'node:crypto';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import { makeFolder } from '../support/folder.ts';
import { REPORT } from './support/cart-report.ts';
import { clientFile, commandOf, RUNTIMES, runClient } from './support/client.ts';
import { jobEnvironment } from './support/job.ts';
import { machine, run } from './support/run.ts';
import { freshRepository, sharedService } from './support/service.ts';

const SIZE_MAX = 550_000;
const START_CPU_MS_MAX = 100;

test('the file is one script of at most 550 KB, with its version, its checksum and an address that can be cached', async () => {
  const service = await sharedService();
  const latest = await fetch(`${service.origin}/cli/ci-insights.mjs`);
  const bytes = await latest.bytes();
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect([latest.status, latest.headers.get('content-type')]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect([latest.headers.get('etag'), latest.headers.get('x-client-version')]).toEqual([`"${sha256}"`, version]);
  expect(bytes.byteLength).toBeLessThan(SIZE_MAX);
  expect(new TextDecoder().decode(bytes)).toStartWith('#!/usr/bin/env node\n');

  const checksum = await fetch(`${service.origin}/cli/ci-insights.mjs.sha256`);
  expect(await checksum.text()).toBe(`${sha256}  ci-insights.mjs\n`);
  const again = await fetch(`${service.origin}/cli/ci-insights.mjs`, { headers: { 'if-none-match': `"${sha256}"` } });
  expect([again.status, (await again.bytes()).byteLength]).toEqual([304, 0]);

  const ofVersion = await fetch(`${service.origin}/cli/${version}/ci-insights.mjs`);
  expect(ofVersion.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
  expect(await ofVersion.bytes()).toEqual(bytes);
  const other = await fetch(`${service.origin}/cli/0.0.1/ci-insights.mjs`);
  expect([other.status, await other.text()]).toEqual([404, expect.stringContaining(`/cli/${version}/ci-insights.mjs`)]);
});

test('it loads what Node has for HTTP and TLS when it asks the service, and no sooner', async () => {
  const file = await clientFile();
  const folder = makeFolder('loaded');
  const preload = join(folder, 'loaded.cjs');
  writeFileSync(preload, "process.on('exit', () => require('node:fs').writeSync(2, process.moduleLoadList.join()));");
  const loadedBy = async (...args: string[]): Promise<string[]> => {
    const env = { ...machine(), CI_INSIGHTS_URL: 'http://127.0.0.1:9', CI_INSIGHTS_TOKEN: 'cii_any' };
    const { stderr } = await run(['node', '--require', preload, file, ...args], { cwd: folder, env });
    return ['http', 'tls', 'zlib'].filter((name) => stderr.split(',').includes(`NativeModule ${name}`));
  };
  try {
    expect(await loadedBy('--version')).toEqual([]);
    const job = ['--repo', 'acme/shop', '--pipeline', 'CI', '--job', 'unit', '--run-id', '1'];
    expect(await loadedBy('gate', 'junit', 'none', ...job)).toEqual(['zlib']);
    expect(await loadedBy('tests', '--repo', 'acme/shop', '--timeout', '1')).toEqual(['http', 'tls']);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

describe.each(RUNTIMES)('on %s', (runtime) => {
  test('it adds less than 100 ms of processor time to the start of the runtime', async () => {
    const file = await clientFile();
    const fastest = (args: string[], printed: string): number => {
      const times = Array.from({ length: 7 }, () => {
        const { resourceUsage, stdout } = Bun.spawnSync([commandOf(runtime), ...args], { env: machine() });
        expect(stdout.toString()).toBe(printed);
        return Number(resourceUsage.cpuTime.total) / 1_000;
      });
      return Math.min(...times);
    };
    expect(fastest([file, '--version'], `${version}\n`) - fastest(['-e', '0'], '')).toBeLessThan(START_CPU_MS_MAX);
  });

  test('it uploads the reports of a folder, from a job that has nothing but the file', async () => {
    const service = await sharedService();
    const repository = freshRepository('download');
    const folder = makeFolder('download');
    try {
      mkdirSync(join(folder, 'reports/deep'), { recursive: true });
      writeFileSync(join(folder, 'reports/deep/unit.xml'), REPORT);
      const env = { ...jobEnvironment(service, { repository }), CI_INSIGHTS_URL: service.origin };
      const args = ['push', 'junit', 'reports'];
      writeFileSync(join(folder, 'token'), `${service.token}\n`);
      const ran = await runClient(runtime, args, { cwd: folder, env: { ...env, CI_INSIGHTS_TOKEN_FILE: 'token' } });
      expect([ran.code, ran.stdout]).toEqual([
        0,
        '1 report of 1 uploaded: 4 executions accepted, 0 duplicate, 0 rejected.\n',
      ]);
      expect(ran.printed).not.toContain(service.token);
      const refused = await runClient(runtime, args, { cwd: folder, env: { ...env, CI_INSIGHTS_TOKEN: 'cii_wrong' } });
      expect([refused.code, refused.printed]).toEqual([1, expect.stringContaining('(403)')]);
      expect(refused.printed).not.toContain('cii_wrong');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});

test('the bundled file imports nothing but what Node has built in', async () => {
  const text = (await Bun.file(await clientFile()).text()).replace(/^#!.*/, '');
  const imported = new Bun.Transpiler({ loader: 'js' }).scanImports(text).map(({ path }) => path.replace(/^node:/, ''));
  const { builtinModules } = await import('node:module');
  expect(imported.filter((name) => !builtinModules.includes(name) || name.startsWith('bun'))).toEqual([]);
  expect(text).not.toMatch(/\bBun\.\w/);
  const ran = await run(['node', '--check', await clientFile()], { env: machine() });
  expect(ran.printed).toBe('');
});
