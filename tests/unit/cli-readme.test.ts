/** What the README lists is what there is. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { buildProgram } from '../../src/cli/program.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const README = read('README.md');

test('every variable that src/config.ts reads stands in the table, and no other', () => {
  const variables = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+): (?!environment)/gm)].map(
    (match) => match[1],
  );
  const listed = [...README.matchAll(/^\| `([A-Z_]+)` \|/gm)].map((match) => match[1]);
  expect(listed.sort()).toEqual(variables.sort());
});

test('every command stands in the table', () => {
  const commands = buildProgram('0').commands.map((command) => command.name());
  for (const command of commands) expect(README).toMatch(new RegExp(`^\\| .*\`${command}[ \`].* \\|`, 'm'));
});

test('every dependency is given a reason', () => {
  const { dependencies, optionalDependencies, devDependencies } = JSON.parse(read('package.json'));
  const named = README.slice(README.indexOf('## Why each dependency'));
  for (const name of Object.keys({ ...dependencies, ...optionalDependencies, ...devDependencies }))
    expect(named).toContain(name.startsWith('@types/') ? '@types/' : name);
});
