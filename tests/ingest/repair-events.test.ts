/** A power loss leaves a part of a batch of events: those of some months. No relay runs while it is repaired. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { eventLine } from '../../src/ledger/event-line.ts';
import { repairEvents } from '../../src/ledger/repair-events.ts';
import { recordEvents } from '../../src/postgres/outbox.ts';
import { batchInHand, RELAY, takeBatch } from '../../src/postgres/outbox-consumers.ts';
import { TEST_NOW } from '../support/clock.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';

const MONTH_MS = 31 * 86_400_000;

test('whichever events of a batch are there, a repair has the log hold each once', async () => {
  const { clickhouse, postgres, repositories, log } = await openTestStores();
  const { db } = postgres;
  await fc.assert(
    fc.asyncProperty(fc.array(fc.boolean(), { minLength: 1, maxLength: 12 }), async (isThere) => {
      const repository = await repositories.record(uniqueRepository());
      for (const [i] of isThere.entries())
        await db.transaction((tx) =>
          recordEvents(
            tx,
            repository.id,
            [
              {
                type: 'action.label',
                trigger: 'a',
                pullRequest: i,
                baseRef: null,
                metadata: { rule: null, added: [], removed: [] },
              },
            ],
            TEST_NOW - MONTH_MS + i * 10 * 86_400_000,
          ),
        );
      await db.transaction((tx) => takeBatch(tx, RELAY));
      const { events, end } = (await db.transaction((tx) => batchInHand(tx, RELAY))) ?? { events: [], end: 0 };
      const there = events.filter((_, i) => isThere[i]);
      if (there.length > 0) await clickhouse.insert('ci.events', there.map(eventLine).join('\n'), `half-${end}`);
      await repairEvents({ clickhouse, db, log });
      expect(
        await clickhouse.rows(
          'SELECT count() AS stored, uniqExact(id) AS different FROM ci.events WHERE repository_id = {id: UUID}',
          { id: repository.id },
        ),
      ).toEqual([{ stored: isThere.length, different: isThere.length }]);
    }),
    { numRuns: 6 },
  );
});
