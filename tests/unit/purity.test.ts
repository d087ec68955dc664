/** The fast loop, `bun test tests/unit tests/property`, opens no store, starts no process and listens on no port. */
import { expect, test } from 'bun:test';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Glob } from 'bun';
import { importsOf } from '../../scripts/imports.ts';

const ROOT = resolve(import.meta.dir, '../..');
const FAST = [...new Glob('tests/{unit,property}/*.test.ts').scanSync({ cwd: ROOT })].sort();

/** Modules that open stores. Many others import them, so it counts only when tests and their helpers do. */
const OPENING = [
  'src/deps.ts',
  'src/main.ts',
  'src/clickhouse/client.ts',
  'src/clickhouse/embedded.ts',
  'src/postgres/client.ts',
  'src/postgres/embedded.ts',
  'src/queue/backend.ts',
  'src/queue/redis.ts',
];
/** Starts a process, listens or connects. */
const STARTING =
  /'node:(?:child_process|cluster|dgram|http|http2|https|net|tls|worker_threads)'|'(?:ioredis|pg)'|\bBun\.(?:spawn|serve|listen|connect|udpSocket|\$)/;

/** Finds what a test file, or a helper that it imports, uses and should not. */
function impurities(file: string, text: string): string[] {
  const found: string[] = [];
  const seen = new Set<string>();
  const visit = (path: string, content: string): void => {
    const starting = STARTING.exec(content)?.[0];
    if (starting) found.push(`${path}: ${starting}`);
    for (const { to } of importsOf(path, content.replaceAll(/^import type .*$/gm, ''))) {
      if (OPENING.includes(to)) found.push(`${path}: ${to}`);
      if (!to.startsWith('tests/') || seen.has(to) || !existsSync(join(ROOT, to))) continue;
      seen.add(to);
      visit(to, readFileSync(join(ROOT, to), 'utf8'));
    }
  };
  visit(file, text);
  return found;
}

test.each(FAST)('%s is pure', (file) => {
  expect(impurities(file, file.endsWith('/purity.test.ts') ? '' : readFileSync(join(ROOT, file), 'utf8'))).toEqual([]);
});

test.each([
  ["import { openTestStores } from '../support/stores.ts';", 'src/deps.ts'],
  ["import { startRedis } from '../support/redis.ts';", 'node:child_process'],
  ["const { exitCode } = Bun.spawnSync(['true']);", 'Bun.spawn'],
  ['const server = Bun.serve({ port: 0, fetch });', 'Bun.serve'],
  ["import { openClickHouse } from '../../src/clickhouse/client.ts';", 'src/clickhouse/client.ts'],
  ["const { spawn } = await import('node:child_process');", 'node:child_process'],
])('%s is found, in a test and in the helpers that it imports', (line, said) => {
  expect(impurities('tests/unit/made-up.test.ts', line).join()).toContain(said);
});
