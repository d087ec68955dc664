/** Tools write their reports anew, and we say of them what we should: tests/tools. Their stored copies are read alike. */
import { expect, test } from 'bun:test';
import { TOOLS } from '../tools/catalogue.ts';
import { EXPECTED } from '../tools/expected.ts';
import { INSTALLERS, type Installed } from '../tools/installed.ts';
import { linesIn } from '../tools/lines.ts';
import { reportsOf } from '../tools/made.ts';
import type { Installer } from '../tools/tool.ts';

/** One at a time: the first of a kind fills the cache, and two would fetch the same. */
const installed = new Map<Installer, Installed | undefined>();
for (const from of new Set(TOOLS.map((tool) => tool.from))) installed.set(from, await INSTALLERS[from]());

for (const tool of TOOLS) {
  const place = installed.get(tool.from);
  test.skipIf(!place)(
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
    120_000,
  );
}
