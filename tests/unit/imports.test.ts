import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import {
  ALLOWED,
  importsOf,
  importsOfTree,
  importTable,
  ROOMS,
  type Room,
  refusalOf,
  roomOf,
} from '../../scripts/imports.ts';

const ROOT = resolve(import.meta.dir, '../..');
const imports = importsOfTree(ROOT);

/** A file of each room, from which and to which an import can be written. */
const FILES: Partial<Record<Room, string>> = {
  base: 'src/clock.ts',
  app: 'src/app.ts',
  cli: 'src/cli/serve.ts',
  config: 'src/config.ts',
  deps: 'src/deps.ts',
  features: 'src/features.ts',
  main: 'src/main.ts',
  producer: 'packages/producer/src/index.ts',
  reporters: 'packages/vitest-reporter/src/index.ts',
  workers: 'workers/main.ts',
  browser: 'web/main.tsx',
};
const fileOf = (room: Room): string => FILES[room] ?? `src/${room}/file.ts`;

test('every import of the tree keeps the rule', () => {
  expect(imports.length).toBeGreaterThan(500);
  expect(imports.flatMap((found) => refusalOf(found) ?? [])).toEqual([]);
});

test.each(ROOMS)('%s may import the rooms listed beside it, and no other', (from) => {
  const listed: readonly Room[] = [from, 'base', ...ALLOWED[from]];
  for (const to of ROOMS) {
    const refusal = refusalOf({ from: fileOf(from), to: fileOf(to), isType: true });
    expect([to, refusal]).toEqual([
      to,
      listed.includes(to) ? undefined : expect.stringContaining(`${from} may not import ${to}`),
    ]);
  }
});

test('no two rooms may import each other, by whatever way round', () => {
  const reach = (room: Room, seen = new Set<Room>()): Set<Room> => {
    for (const next of ALLOWED[room] as readonly Room[]) if (!seen.has(next)) reach(next, seen.add(next));
    return seen;
  };
  for (const room of ROOMS) expect(reach(room).has(room)).toBeFalse();
});

test('every arrow of the rule is in use', () => {
  const used = new Set(imports.map(({ from, to }) => `${roomOf(from)} → ${roomOf(to)}`));
  const unused = ROOMS.flatMap((from) =>
    ALLOWED[from].map((to) => `${from} → ${to}`).filter((arrow) => !used.has(arrow)),
  );
  expect(unused).toEqual([]);
});

test('imports of types, dynamic ones and those without a name are seen too, and what is left when the code runs', () => {
  const text = `import type { A } from '../a.ts';
import type {
  B,
  C,
} from './b.ts';
import { type D } from './d.ts';
import { E } from './e.ts';
export * from '../../f.ts';
export type { G } from './g.ts';
import './h.ts';
await import('./i.ts');`;
  expect(importsOf('src/http/x.ts', text).map(({ to, isType }) => [to, isType])).toEqual([
    ['src/a.ts', true],
    ['src/http/b.ts', true],
    ['src/http/d.ts', false],
    ['src/http/e.ts', false],
    ['f.ts', false],
    ['src/http/g.ts', true],
    ['src/http/h.ts', false],
    ['src/http/i.ts', false],
  ]);
});

test.each([
  ["import { QUARANTINE_LIMIT_MAX } from '../../src/domain/quarantine-rules.ts';", true],
  ["import { type AutoQuarantineMode } from '../../src/domain/quarantine-rules.ts';", true],
  ["const rules = await import('../../src/domain/quarantine-rules.ts');", true],
  ["import type { AutoQuarantineMode } from '../../src/domain/quarantine-rules.ts';", false],
  ["import { Field } from '../ui/field.tsx';", false],
])('a page that contains %p is refused: %p', (line, isRefused) => {
  const refusals = importsOf('web/pages/x.tsx', line).map(refusalOf);
  expect(refusals).toEqual([
    isRefused ? expect.stringContaining('browser may only `import type` from domain') : undefined,
  ]);
});

test('docs/architecture.md shows the rule as it is', () => {
  expect(readFileSync(join(ROOT, 'docs/architecture.md'), 'utf8')).toContain(importTable());
});
