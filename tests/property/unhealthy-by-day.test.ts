/** The health of tests day by day is that which their transitions give at the end of each day. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { healthTransitions, type IdentityHistory } from '../../src/domain/health-transitions.ts';
import { HEALTH_RECENT_DAYS } from '../../src/domain/judgement-constants.ts';
import { HEALTHS, type Health } from '../../src/domain/status.ts';
import { DAY_MS, HOUR_MS } from '../../src/domain/time.ts';
import { unhealthyByDay } from '../../src/domain/unhealthy-by-day.ts';

type Identity = IdentityHistory<{ at: number; after: Health }>;

/** Changes at full hours, midnight too, each to another health. */
const identity = fc
  .record({
    steps: fc.array(fc.tuple(fc.integer({ min: 1, max: 60 }), fc.constantFrom(...HEALTHS)), { maxLength: 6 }),
    runsOnHours: fc.integer({ min: 0, max: 400 }),
  })
  .map(({ steps, runsOnHours }): Identity => {
    const changes: { at: number; after: Health }[] = [];
    let at = 0;
    for (const [hours, after] of steps) {
      at += 12 * hours * HOUR_MS;
      if (after !== (changes.at(-1)?.after ?? 'healthy')) changes.push({ at, after });
    }
    return { changes, newestAt: at + runsOnHours * HOUR_MS };
  });
const tests = fc.array(fc.array(identity, { minLength: 1, maxLength: 3 }), { maxLength: 4 });

/** Looks at each day on its own. */
function healthAtEndOf(day: number, identities: readonly Identity[]): Health {
  const newest = Math.max(...identities.map(({ newestAt }) => newestAt));
  if (day >= Math.floor(newest / DAY_MS) + HEALTH_RECENT_DAYS) return 'healthy';
  return healthTransitions(identities).findLast(({ at }) => at < (day + 1) * DAY_MS)?.health ?? 'healthy';
}

test('each day counts the tests by their health at its end', () => {
  fc.assert(
    fc.property(tests, fc.nat(40), fc.nat(60), (of, first, length) => {
      const days = unhealthyByDay(of, { first, last: first + length });
      expect(days).toHaveLength(length + 1);
      for (const [i, { broken, flaky }] of days.entries()) {
        const healths = of.map((identities) => healthAtEndOf(first + i, identities));
        expect([broken, flaky]).toEqual([
          healths.filter((health) => health === 'broken').length,
          healths.filter((health) => health === 'flaky').length,
        ]);
      }
    }),
  );
});

test('each turn counts on its day', () => {
  fc.assert(
    fc.property(tests, (of) => {
      const days = unhealthyByDay(of, { first: 0, last: 400 });
      const turns = days.flatMap(({ turns: counted }) => Object.values(counted)).reduce((sum, one) => sum + one, 0);
      expect(turns).toBe(of.flatMap((identities) => healthTransitions(identities)).length);
    }),
  );
});
