/** Reports that tools wrote (tests/tools), as they are stored: `tests/nightly/tools.test.ts` has them written again. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { FORMATS } from '../../src/formats/formats.ts';
import { fixtureBytes } from '../support/parsing.ts';
import { TOOLS } from '../tools/catalogue.ts';
import { EXPECTED } from '../tools/expected.ts';
import { linesIn } from '../tools/lines.ts';

const ALL = TOOLS.flatMap(({ name, version, reports }) =>
  reports.map(({ fixture }) => [name, version, fixture] as const),
);

test.each(ALL)('%s %s: %s', async (_, __, fixture) => {
  expect(await linesIn(fixture, await fixtureBytes(fixture))).toEqual(
    EXPECTED[fixture] ?? { executions: [], warnings: [] },
  );
});

test('there is nothing else to expect', () => {
  expect(Object.keys(EXPECTED).toSorted()).toEqual(ALL.map(([, , fixture]) => fixture).toSorted());
});

test('docs/executions.md says with which versions each tool was tried', () => {
  const page = readFileSync(resolve(import.meta.dir, '../../docs/executions.md'), 'utf8');
  for (const { name, version } of TOOLS) expect(page).toContain(`| ${name} | ${version} |`);
});

/** As the table of formats in docs/producers.md has it. */
function triedWith(format: string): string[] {
  const names = TOOLS.flatMap(({ name, version, reports }) =>
    reports
      .filter(({ fixture }) => fixture.startsWith(`${format}/`))
      .map(({ by }) => by ?? `${name} ${version.split(/[,;]/, 1)}`),
  );
  const distinct = [...new Set(names)];
  if (distinct.length > 9) return [`[${distinct.length} tools](executions.md#versions)`];
  return distinct.length === 0 ? ['its schema'] : distinct;
}

test('docs/producers.md says with which tools each format was tried', () => {
  const page = readFileSync(resolve(import.meta.dir, '../../docs/producers.md'), 'utf8');
  const table = page.slice(page.indexOf('| format | tried with |'), page.indexOf('*Tried with*'));
  const rows = [...table.matchAll(/^\| `([a-z-]+)` \| ([^|]+) \|$/gm)].map(([, name, tools]) => [name, tools]);
  const formats = FORMATS.flatMap(({ name }) => triedWith(name).map((tool) => [name, tool]));
  expect(rows.sort()).toEqual(formats.sort());
  for (const { name } of FORMATS) expect(page).toContain(`| \`push ${name}\` |`);
});
