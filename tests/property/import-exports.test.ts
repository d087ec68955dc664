/** Whatever is in the files of an export, it is read as reports, or left out with a reason. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { allure } from '../../src/client/import/exports/allure.ts';
import { buildkite } from '../../src/client/import/exports/buildkite.ts';
import { ctrf } from '../../src/client/import/exports/ctrf.ts';
import type { ExportFile } from '../../src/client/import/exports/files.ts';
import { filesOfExport } from '../../src/client/import/exports/files.ts';
import { reportportal } from '../../src/client/import/exports/reportportal.ts';

const TOOLS = [ctrf, allure, reportportal, buildkite];
const FOLDER = new URL('../fixtures/exports/', import.meta.url).pathname;
const fixtures = (await filesOfExport(FOLDER)).filter(({ path }) => path.endsWith('.json'));
const values = await Promise.all(fixtures.map(async (file) => JSON.parse(new TextDecoder().decode(await file.read()))));

const fileOf = (path: string, text: string): ExportFile => ({ path, read: () => Promise.resolve(Buffer.from(text)) });

/** Every value below it, by its way there. */
function ways(value: unknown, way: readonly string[] = []): (readonly string[])[] {
  if (typeof value !== 'object' || value === null) return [way];
  return [way, ...Object.entries(value).flatMap(([name, inner]) => ways(inner, [...way, name]))];
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: unknown): unknown {
  if (name === undefined) return by;
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, inner]) => [key, key === name ? replaced(inner, rest, by) : inner]);
  return Array.isArray(value) ? entries.map(([, inner]) => inner) : Object.fromEntries(entries);
}

/** A fixture in which another value stands somewhere. */
const changed = fc
  .record({ which: fc.nat(values.length - 1), at: fc.nat(), by: fc.jsonValue() })
  .map(({ which, at, by }) => {
    const all = ways(values[which]);
    return JSON.stringify(replaced(values[which], all[at % all.length] ?? [], by));
  });

test('an export that is odd or broken stops no import', () =>
  fc.assert(
    fc.asyncProperty(fc.oneof(changed, fc.json(), fc.string()), fc.constantFrom(...TOOLS), async (text, tool) => {
      const files = ['a-result.json', 'executor.json', 'items.json'].map((name) => fileOf(`x/${name}`, text));
      for await (const found of tool.reports([...files, fileOf('x/environment.properties', text)])) {
        if ('leftOut' in found) {
          expect(found.leftOut).not.toBe('');
          continue;
        }
        const { pipeline, job, runId, endedAt } = found.told;
        expect([pipeline, job, runId]).not.toContain('');
        if (endedAt !== undefined) expect(() => new Date(endedAt).toISOString()).not.toThrow();
        expect((await found.read()).length).toBeGreaterThan(0);
      }
    }),
    { numRuns: 400 },
  ));
