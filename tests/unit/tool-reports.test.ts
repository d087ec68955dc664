/** Reports that tools wrote (tests/tools), as they are stored: `tests/nightly/tools.test.ts` has them written again. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
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
