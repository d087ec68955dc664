/**
 * A service that is cut off again and again (tests/support/interrupted.ts). `INTERRUPTIONS` says how often, of each kind,
 * and `EXECUTIONS` how many are stored before each, on average; docs/reliability.md has the settings of a long run.
 */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { InterruptedService } from '../support/interrupted.ts';
import { canMount, Disk, Folder, type Place } from '../support/power.ts';

const ROUNDS = Number(process.env.INTERRUPTIONS ?? 3);
const EXECUTIONS_PER_ROUND = Number(process.env.EXECUTIONS ?? 3_500);
/** Counting everything costs seconds, so it is not done after each cut. */
const ROUNDS_PER_COUNT = Math.max(10, ROUNDS / 4);
/** Longer than each wait in it. */
const ROUND_MS_MAX = 900_000;

async function interrupt(place: Place): Promise<void> {
  // The one that is printed before the tests.
  const { seed = 0 } = fc.readConfigureGlobal();
  const service = new InterruptedService({ place, seed, executionsPerRound: EXECUTIONS_PER_ROUND });
  try {
    for (let round = 1; round <= ROUNDS; round++) {
      await service.round();
      if (round % ROUNDS_PER_COUNT > 0 && round < ROUNDS) continue;
      const { verified, events } = await service.settle({ isLast: round === ROUNDS });
      expect(service.wrong).toEqual([]);
      expect(verified).toContain(
        `All derived tables agree with ${service.executions.toLocaleString('en-US')} executions.`,
      );
      expect(service.wronglyTold(events)).toEqual([]);
      console.error(`${service.cuts} cuts, ${service.executions} executions, ${service.quarantines} quarantines`);
    }
  } finally {
    await service.close();
  }
}

test(
  `killed ${ROUNDS} times while CI jobs upload and people quarantine: every receipt that said "stored" stays true, every execution and every event counts once`,
  () => interrupt(new Folder()),
  ROUNDS * ROUND_MS_MAX,
);

const canCut = canMount();
if (!canCut) console.error('No power loss is tested: this needs root and a free loop device.');

test('a power loss can be tested in CI', () => expect(canCut || process.env.CI === undefined).toBe(true));

describe.skipIf(!canCut)('on a disk', () => {
  test(
    `whose power is cut ${ROUNDS} times: every receipt that said "stored" stays true, every execution and every event counts once`,
    () => interrupt(new Disk()),
    ROUNDS * ROUND_MS_MAX,
  );
});
