/** Tools write their reports again, and we say of them what we should: tests/tools. */
import { expect, test } from 'bun:test';
import { TOOLS } from '../tools/catalogue.ts';
import { EXPECTED } from '../tools/expected.ts';
import { INSTALLERS, type Installed } from '../tools/installed.ts';
import { linesIn } from '../tools/lines.ts';
import { reportsOf } from '../tools/made.ts';
import type { Installer } from '../tools/tool.ts';

const kinds = [...new Set(TOOLS.map((tool) => tool.from))];
const places: Partial<Record<Installer, Installed>> = Object.fromEntries(
  await Promise.all(kinds.map(async (from) => [from, await INSTALLERS[from]()] as const)),
);

for (const tool of TOOLS) {
  const place = places[tool.from];
  test.skipIf(place === undefined)(
    `${tool.name} ${tool.version}`,
    async () => {
      const reports = await reportsOf(tool, place as Installed);
      const said: Record<string, unknown> = {};
      const expected: Record<string, unknown> = {};
      for (const [fixture, report] of reports) {
        said[fixture] = await linesIn(fixture, report);
        expected[fixture] = EXPECTED[fixture];
      }
      expect(said).toEqual(expected);
    },
    300_000,
  );
}
