/** The rules about who imports whom stand in biome.json; here each is shown to catch what it is for. */
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';

const ROOT = resolve(import.meta.dir, '../..');
const BIOME = join(ROOT, 'node_modules/@biomejs/biome/bin/biome');

/** File → the only line of it that matters, and the rule that must refuse it; null: it is allowed. */
const CASES: Record<string, [string, string | null]> = {
  'src/domain/upward.ts': ["export type { A } from '../postgres/schema.ts';", 'noRestrictedImports'],
  'src/domain/sideways.ts': ["export { a } from './identity.ts';", null],
  'src/postgres/upward.ts': ["export { a } from '../http/errors.ts';", 'noRestrictedImports'],
  'src/postgres/downward.ts': ["export { a } from '../domain/identity.ts';", null],
  'src/clickhouse/upward.ts': ["export { a } from '../insights/search.ts';", 'noRestrictedImports'],
  'src/queue/upward.ts': ["export { a } from '../ingest/limits.ts';", 'noRestrictedImports'],
  'src/ledger/upward.ts': ["export { a } from '../http/errors.ts';", 'noRestrictedImports'],
  'src/http/feature.ts': ["export { a } from '../insights/search.ts';", 'noRestrictedImports'],
  'src/http/gateway.ts': ["export { a } from '../ingest/routes.ts';", 'noRestrictedImports'],
  'src/insights/main.ts': ["export { a } from '../main.ts';", 'noRestrictedImports'],
  'src/insights/store.ts': ["export { a } from '../clickhouse/client.ts';", null],
  'src/deps.ts': ["export { a } from './main.ts';", 'noRestrictedImports'],
  'src/cli/serve.ts': ["export { a } from '../main.ts';", null],
  'workers/upward.ts': ["export { a } from '../src/main.ts';", 'noRestrictedImports'],
  'workers/routes.ts': ["export { a } from '../src/insights/search.ts';", 'noRestrictedImports'],
  'src/insights/environment.ts': ['export const a = process.env.A;', 'noProcessEnv'],
  'src/config.ts': ['export const a = process.env.A;', null],
  'src/left.ts': ["import { b } from './right.ts';\nexport const a = (): unknown => b;", 'noImportCycles'],
  'src/right.ts': ["import { a } from './left.ts';\nexport const b = (): unknown => a;", 'noImportCycles'],
};

let found: Map<string, string>;
const folder = mkdtempSync(join(tmpdir(), 'ci-insights-architecture-'));

beforeAll(async () => {
  copyFileSync(join(ROOT, 'biome.json'), join(folder, 'biome.json'));
  for (const [file, [text]] of Object.entries(CASES)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), `${text}\n`);
  }
  const lint = Bun.spawn([process.execPath, BIOME, 'lint', '--reporter=github', '--max-diagnostics=none', '.'], {
    cwd: folder,
    stdout: 'pipe',
    stderr: 'ignore',
  });
  const lines = (await new Response(lint.stdout).text()).split('\n').filter((line) => line.startsWith('::error'));
  found = new Map(
    lines.map((line) => {
      const [, rule = '', file = ''] = /title=lint\/\w+\/(\w+),file=([^,]+),/.exec(line) ?? [];
      return [file.slice(file.lastIndexOf(folder) + folder.length).replace(/^\//, '') || file, rule];
    }),
  );
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

for (const [file, [, rule]] of Object.entries(CASES))
  test(`${file} is ${rule ? `refused by ${rule}` : 'allowed'}`, () => {
    expect(found.get(file) ?? null).toBe(rule);
  });
