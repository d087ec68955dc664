import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { Glob } from 'bun';

test('nothing but the clock reads the time of the machine', () => {
  const root = resolve(import.meta.dir, '../..');
  const readers = [...new Glob('{src,workers}/**/*.ts').scanSync(root)].filter((path) =>
    /\bDate\.now\(\)(?!`)|\bnew Date\(\)/.test(readFileSync(resolve(root, path), 'utf8')),
  );
  expect(readers).toEqual(['src/clock.ts']);
});
