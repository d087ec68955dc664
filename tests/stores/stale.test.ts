/** Notes of what is stale: added in any order, and taken away only by who has read all of them. */
import { expect, test } from 'bun:test';
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { type Noted, noteStale, readStale, settleStale } from '../../src/postgres/stale.ts';
import { openTestStores } from '../support/stores.ts';

const { db } = (await openTestStores()).postgres;

const TEST_IDS = Array.from({ length: 5 }, () => randomUUID());
const note = fc.record({
  since: fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
  testIds: fc.subarray(TEST_IDS),
  blockId: fc.integer({ min: 1, max: 9 }),
});
const NOW = { restMs: 0 };

async function noted(repositoryId: string): Promise<Noted | undefined> {
  return (await readStale(db, [repositoryId])).get(repositoryId)?.get('judgements');
}

test('notes add up to the least moment, all tests and the first block, in whatever order they come', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(note, { minLength: 1, maxLength: 6 }), async (notes) => {
      const repositoryId = randomUUID();
      for (const { since, ...one } of [...notes, ...notes.slice(0, 1)])
        await noteStale(db, [{ repositoryId, kind: 'judgements', ...one, ...(since === undefined ? {} : { since }) }]);
      const moments = notes.flatMap(({ since = null }) => (since === null ? [] : [since]));
      expect(await noted(repositoryId)).toMatchObject({
        since: moments.length === 0 ? null : Math.min(...moments),
        testIds: new Set(notes.flatMap(({ testIds }) => testIds)),
        firstBlock: Math.min(...notes.map(({ blockId }) => blockId)),
      });
    }),
    { numRuns: 40 },
  );
});

test('a note that came after it was read stays, with all that it says', async () => {
  const repositoryId = randomUUID();
  const [first = '', second = ''] = TEST_IDS;
  await noteStale(db, [{ repositoryId, kind: 'judgements', since: 5, testIds: [first], blockId: 1 }]);
  const read = await noted(repositoryId);
  await noteStale(db, [{ repositoryId, kind: 'judgements', since: 7, testIds: [second], blockId: 2 }]);
  await settleStale(db, repositoryId, 'judgements', { ...NOW, revision: read?.revision ?? 0 });
  const left = await noted(repositoryId);
  expect(left).toMatchObject({ since: 5, testIds: new Set([first, second]), firstBlock: 1 });
  await settleStale(db, repositoryId, 'judgements', { ...NOW, revision: left?.revision ?? 0 });
  expect(await noted(repositoryId)).toBeUndefined();
});

test('a note that is taken away says nothing in the next one, and its revision does not take that away', async () => {
  const repositoryId = randomUUID();
  const [first = '', second = ''] = TEST_IDS;
  await noteStale(db, [{ repositoryId, kind: 'judgements', since: 5, testIds: [first], blockId: 1 }]);
  const read = await noted(repositoryId);
  const settled = { ...NOW, revision: read?.revision ?? 0 };
  await settleStale(db, repositoryId, 'judgements', settled);
  await noteStale(db, [{ repositoryId, kind: 'judgements', since: 7, testIds: [second], blockId: 2 }]);
  await settleStale(db, repositoryId, 'judgements', settled);
  expect(await noted(repositoryId)).toMatchObject({ since: 7, testIds: new Set([second]), firstBlock: 2 });
});
