/** When the health of a test changed, from whatever its pipelines and CI jobs show. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { healthTransitions, type IdentityHistory } from '../../src/domain/health-transitions.ts';
import { HEALTHS, type Health } from '../../src/domain/status.ts';
import { healthOfTest } from '../../src/domain/test-state.ts';

const DAY = 86_400_000;
type Change = { at: number; after: Health };

/** Changes in order, each to another health, and an execution after the last. */
const identity = fc
  .record({
    steps: fc.array(fc.tuple(fc.integer({ min: 1, max: 10 }), fc.constantFrom(...HEALTHS)), { maxLength: 6 }),
    runsOn: fc.integer({ min: 0, max: 60 }),
  })
  .map(({ steps, runsOn }): IdentityHistory<Change> => {
    const changes: Change[] = [];
    let at = 0;
    for (const [days, after] of steps) {
      at += days * DAY;
      if (after !== (changes.at(-1)?.after ?? 'healthy')) changes.push({ at, after });
    }
    return { changes, newestAt: at + runsOn * DAY };
  });
const identities = fc.array(identity, { minLength: 1, maxLength: 4 });

test('transitions go forward in time, neighbours differ, and the first is not healthy', () => {
  fc.assert(
    fc.property(identities, (of) => {
      let before: Health = 'healthy';
      let since = 0;
      for (const { at, health } of healthTransitions(of)) {
        expect(at).toBeGreaterThanOrEqual(since);
        expect(health).not.toBe(before);
        [before, since] = [health, at];
      }
    }),
  );
});

test('the last one is the health of the test now', () => {
  fc.assert(
    fc.property(identities, (of) => {
      const last = healthTransitions(of).at(-1)?.health ?? 'healthy';
      const shown = of.map(({ changes, newestAt }) => ({
        health: changes.at(-1)?.after ?? ('healthy' as const),
        summary: { lastSuccessAt: newestAt, lastFailureAt: null },
      }));
      expect(last).toBe(healthOfTest(shown));
    }),
  );
});

test('each that is not a recovery names the change of an identity that is so from then on', () => {
  fc.assert(
    fc.property(identities, (of) => {
      for (const { at, health, cause } of healthTransitions(of)) {
        expect(cause?.after).toBe(health === 'healthy' ? undefined : health);
        expect(cause?.at ?? at).toBeLessThanOrEqual(at);
      }
    }),
  );
});

test('a test that runs in one place has the transitions of that place', () => {
  fc.assert(
    fc.property(identity, (of) => {
      expect(healthTransitions([of]).map(({ at, health }) => ({ at, after: health }))).toEqual([...of.changes]);
    }),
  );
});
