/**
 * Makes the reports of tests/fixtures again that tools write, and prints what we say of each:
 * `bun tests/tools/main.ts [tool …]`. If that is right, and not what tests/tools/expected.json has, write it there.
 */
import { join, resolve } from 'node:path';
import { closeAll } from '../support/at-end.ts';
import { TOOLS } from './catalogue.ts';
import { INSTALLERS } from './installed.ts';
import { linesIn } from './lines.ts';
import { reportsOf } from './made.ts';

const FIXTURES = resolve(import.meta.dir, '../fixtures');

const names = process.argv.slice(2);
const unknown = names.filter((name) => !TOOLS.some((tool) => tool.name === name));
if (unknown.length > 0)
  throw new Error(`unknown: ${unknown.join(', ')}; known: ${TOOLS.map(({ name }) => name).join(', ')}`);

for (const tool of TOOLS) {
  if (names.length > 0 && !names.includes(tool.name)) continue;
  const installed = await INSTALLERS[tool.from]();
  if (!installed) continue;
  for (const [fixture, report] of await reportsOf(tool, installed)) {
    await Bun.write(join(FIXTURES, fixture), report);
    console.log(JSON.stringify({ [fixture]: await linesIn(fixture, report) }, null, 2));
  }
}
await closeAll();
