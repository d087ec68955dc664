/** The failure groups of a real history: few, and few with a single failure. Skipped where the history is not there. */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { normaliseMessage } from '../../src/domain/fingerprint.ts';

const FILE = fileURLToPath(new URL('../../../shared/datasets/dask-distributed-2022-2024.tsv.gz', import.meta.url));
if (!existsSync(FILE)) console.log('skipped: the history of dask/distributed is not there');

const ESCAPES: Readonly<Record<string, string>> = { '\\t': '\t', '\\n': '\n', '\\r': '\r', '\\\\': '\\' };
const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#x27': "'", '#39': "'", amp: '&' };
const unescaped = (text: string): string =>
  text
    .replace(/\\[tnr\\]/g, (found) => ESCAPES[found] ?? found)
    .replace(/&(lt|gt|quot|#x27|#39|amp);/g, (_, name: string) => ENTITIES[name] ?? '');

test.skipIf(!existsSync(FILE))('two years of failures make few groups, and errors of Windows stay apart', async () => {
  const text = new TextDecoder().decode(Bun.gunzipSync(await Bun.file(FILE).bytes()));
  const groups = new Map<string, number>();
  for (const line of text.split('\n').slice(1)) {
    const [, , , , name = '', , status, message = ''] = line.split('\t');
    if (status !== 'failed') continue;
    const group = `${name}\0${normaliseMessage(unescaped(message))}`;
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  const single = [...groups.values()].filter((failures) => failures === 1).length;
  console.log(`${groups.size} groups, ${single} with a single failure`);
  expect(groups.size).toBeLessThanOrEqual(1_250);
  expect(single).toBeLessThanOrEqual(250);
  const errors = [...groups.keys()].flatMap((group) => group.match(/WinError \d+/g) ?? []);
  expect(new Set(errors).size).toBeGreaterThanOrEqual(2);
});
