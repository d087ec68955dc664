/**
 * Watches what the client for CI jobs loads before it does anything: loading takes most of the time of a command, and a
 * single import is enough to lose what was won.
 */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

const CLIENT = resolve(import.meta.dir, '../../src/client');
const transpiler = new Bun.Transpiler({ loader: 'ts' });

/** The packages and the modules of Node that a file imports statically, itself or through other files. */
function loadedBy(entry: string): string[] {
  const files = new Set<string>();
  const loaded = new Set<string>();
  const load = (file: string): void => {
    if (files.has(file) || !file.endsWith('.ts')) return;
    files.add(file);
    for (const { kind, path } of transpiler.scanImports(readFileSync(file, 'utf8').replace(/^#!/, '//'))) {
      if (kind !== 'import-statement') continue;
      if (path.startsWith('.')) load(resolve(dirname(file), path));
      else loaded.add(path);
    }
  };
  load(resolve(CLIENT, entry));
  return [...loaded].map((name) => name.replace(/^node:/, '')).sort();
}

test('the client starts with the command line, and no command', () => {
  expect(loadedBy('main.ts')).toEqual(['commander', 'fs', 'get-east-asian-width']);
});

/** Not for HTTP, TLS and proxies before a request, not to search folders before one is given, not to parse a report. */
test.each([
  [
    'push.ts',
    [
      'commander',
      'get-east-asian-width',
      'zod',
      'zod/v4/core',
      'crypto',
      'fs',
      'fs/promises',
      'path',
      'timers/promises',
      'util',
      'zlib',
    ],
  ],
  [
    'gate/command.ts',
    [
      'commander',
      'get-east-asian-width',
      'zod',
      'zod/v4/core',
      'child_process',
      'crypto',
      'fs',
      'fs/promises',
      'os',
      'path',
      'timers/promises',
      'util',
      'zlib',
    ],
  ],
  [
    'commands/why.ts',
    ['commander', 'get-east-asian-width', 'zod', 'zod/v4/core', 'crypto', 'fs', 'path', 'timers/promises'],
  ],
] as const)('%s loads what it always needs', (entry, loaded) => {
  expect(loadedBy(entry)).toEqual([...loaded].sort());
});
