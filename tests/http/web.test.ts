/** The web application as files: what a browser is given, and how much of it. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readWebFiles } from '../../src/web/files.ts';
import { pageOf } from '../../src/web/page.ts';
import { makeFolder } from '../support/folder.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';

/** Compressed, of what the first view needs. */
const FIRST_VIEW_BYTES_MAX = 250_000;

let service: ServiceApp;
beforeAll(async () => {
  service = await openServiceApp();
});
afterAll(() => service.stop());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`http://127.0.0.1:${service.port}${path}`, { headers, decompress: false } as RequestInit);
const page = async (path = '/app'): Promise<string> => (await get(path)).text();
const assetsOf = (html: string): string[] =>
  [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path = '']) => path);

describe('the page', () => {
  test('is the same at every address below /app, and never kept without asking', async () => {
    const html = await page();
    expect(html).toStartWith('<!doctype html>');
    expect(await page('/app/acme/shop/tests?q=%3Cscript%3E')).toBe(html);
    expect((await get('/app')).headers.get('cache-control')).toBe('no-cache');
  });

  test('allows scripts and styles of this service only, and none inside of it', async () => {
    const policy = (await get('/app')).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self';");
    expect(policy).not.toMatch(/unsafe|http:|https:|\*/);
    expect(await page()).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
  });

  test('finds its files below the path of the public address', () => {
    const manifest = { sources: '', script: 'main.js', preload: ['a.js'], style: 'styles.css', icon: 'icon.svg' };
    const html = pageOf('/ci', manifest);
    for (const file of ['main.js', 'a.js', 'styles.css', 'icon.svg']) expect(html).toContain(`"/ci/assets/${file}"`);
    expect(html).toContain('<meta name="ci-insights-base" content="/ci">');
  });

  test('says what to do when the application is not built', () => {
    expect(readWebFiles(makeFolder('empty'))).toBeUndefined();
    expect(pageOf('', undefined)).toContain('npm run setup');
  });
});

describe('the files', () => {
  test('are kept for ever, compressed as the browser wishes, and what they say they are', async () => {
    const assets = assetsOf(await page());
    expect(assets.length).toBeGreaterThanOrEqual(3);
    for (const path of assets) {
      const plain = await get(path, { 'accept-encoding': 'identity' });
      expect([path, plain.status, plain.headers.get('cache-control')]).toEqual([
        path,
        200,
        'public, max-age=31536000, immutable',
      ]);
      expect(plain.headers.get('content-type')).toMatch(/^(text\/(javascript|css); charset=utf-8|image\/svg\+xml)$/);
      const bytes = Buffer.from(await plain.arrayBuffer());
      const gzip = await get(path, { 'accept-encoding': 'gzip' });
      expect(gzip.headers.get('content-encoding')).toBe('gzip');
      expect(Buffer.from(Bun.gunzipSync(await gzip.arrayBuffer())).equals(bytes)).toBe(true);
      expect((await get(path, { 'accept-encoding': 'gzip, deflate, br' })).headers.get('content-encoding')).toBe('br');
    }
  });

  test('are those of the application alone', async () => {
    for (const path of ['/assets/manifest.json', '/assets/nope.js', '/assets/..%2f..%2fpackage.json', '/assets/%00'])
      expect([path, (await get(path)).status]).toEqual([path, 404]);
    const folder = makeFolder('files');
    writeFileSync(join(folder, 'manifest.json'), '{}');
    expect(readWebFiles(folder)).toBeUndefined();
  });

  test('of the first view have at most 250 KB of scripts, compressed', async () => {
    const scripts = assetsOf(await page()).filter((path) => path.endsWith('.js'));
    const files = readWebFiles();
    const tests = [...(await import('node:fs')).readdirSync('web/dist')].filter((name) => /^tests-.*\.js$/.test(name));
    const names = [...scripts.map((path) => path.slice('/assets/'.length)), ...tests];
    expect(names.length).toBeGreaterThanOrEqual(2);
    let bytes = 0;
    for (const name of names) bytes += (await files?.answer(name, 'gzip')?.arrayBuffer())?.byteLength ?? Number.NaN;
    expect(bytes).toBeLessThan(FIRST_VIEW_BYTES_MAX);
  });
});
