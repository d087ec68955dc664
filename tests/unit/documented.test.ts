/** The tables of docs/ list what exists: every variable, command and dependency, and nothing else. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Command } from 'commander';
import { z } from 'zod';
import { buildProgram } from '../../src/cli/program.ts';

const ROOT = resolve(import.meta.dir, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const CONFIGURATION = read('docs/configuration.md');

const namesSchema = z.record(z.string(), z.string()).transform((versions) => Object.keys(versions));
const packageSchema = z.object({
  dependencies: namesSchema,
  optionalDependencies: namesSchema,
  devDependencies: namesSchema,
});

test('docs/configuration.md lists every variable that the service and the client read, and no other', () => {
  const variables = [...read('src/config.ts').matchAll(/^ {2}([A-Z][A-Z_]+): (?!environment)/gm)].map(
    ([, name]) => name,
  );
  const ofJobs = ['settings', 'ci-provider'].flatMap((file) => [
    ...read(`src/client/${file}.ts`).matchAll(/(?:environment|set)\.([A-Z][A-Z_]+)/g),
  ]);
  variables.push(...new Set([...ofJobs].map(([, name]) => name)));
  const listed = [...CONFIGURATION.matchAll(/^\| `([A-Z_]+)` \|/gm)].map(([, name]) => name);
  expect(listed.sort()).toEqual(variables.sort());
});

test('docs/configuration.md lists every command', async () => {
  const commands = (await buildProgram()).commands.map((command) => command.name());
  for (const command of commands) expect(CONFIGURATION).toMatch(new RegExp(`^\\| .*\`${command}[ \`].* \\|`, 'm'));
});

/** Commands with their parents: `quarantine list`. */
const commandsBelow = (command: Command, before = ''): [name: string, command: Command][] =>
  command.commands.flatMap((one) => {
    const name = `${before}${one.name()}`;
    // A format is an argument, though it has its own help.
    const itself: [string, Command][] = [[name, one]];
    if (one.commands.length === 0 || ['push', 'gate'].includes(one.name())) return itself;
    // `tests` lists them, and has a command below.
    return [...(one.registeredArguments.length > 0 ? itself : []), ...commandsBelow(one, `${name} `)];
  });

test('docs/agents.md says what --json of each command prints, and names no other', async () => {
  const page = read('docs/agents.md');
  const table = page.slice(page.indexOf('| command | `--json` prints'), page.indexOf('Exit codes:'));
  const listed = [...table.matchAll(/^\| (`[^|]+`) \|/gm)].flatMap(([, cell = '']) => {
    const names = [...cell.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name.replace(/ [<[].*/, ''));
    const [first = ''] = names;
    // `quarantine add`, `remove`
    const group = first.includes(' ') ? `${first.split(' ')[0]} ` : '';
    return names.map((name) => (name.includes(' ') ? name : `${group}${name}`));
  });
  const printing = commandsBelow(await buildProgram())
    .filter(([, command]) =>
      [command, ...command.commands].some(({ options }) => options.some(({ long }) => long === '--json')),
    )
    .map(([name]) => name);
  expect([...new Set(listed)].sort()).toEqual(printing.sort());
});

test('docs/dependencies.md gives a reason for every dependency, and names no package that is not installed', () => {
  const { dependencies, optionalDependencies, devDependencies } = packageSchema.parse(JSON.parse(read('package.json')));
  const installed = [...dependencies, ...optionalDependencies, ...devDependencies].map((name) =>
    name.startsWith('@types/') ? '@types/…' : name,
  );
  const named = [...read('docs/dependencies.md').matchAll(/^\| (?!package|-)([^|]+) \|/gm)].flatMap(([, cell = '']) =>
    cell.split(', ').map((name) => name.replace(' (optional)', '')),
  );
  expect([...new Set(installed)].sort()).toEqual([...new Set(named)].sort());
});
