/** The health at a moment, from changes in any order of health. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { episodeAt, type HealthStep } from '../../src/domain/health-at.ts';
import { HEALTHS, type Health } from '../../src/domain/status.ts';

const changes = fc
  .array(fc.record({ gap: fc.integer({ min: 1, max: 5 }), lead: fc.nat({ max: 4 }), to: fc.nat({ max: 1 }) }), {
    maxLength: 8,
  })
  .map((drawn) => {
    const steps: HealthStep[] = [];
    let at = 0;
    let before: Health = 'healthy';
    for (const { gap, lead, to } of drawn) {
      at += gap;
      const after = HEALTHS.filter((one) => one !== before)[to] as Health;
      steps.push({ at, beganAt: after === 'healthy' ? null : Math.max(0, at - lead), before, after });
      before = after;
    }
    return steps;
  });
const nowOf = (steps: readonly HealthStep[]): Health => steps.at(-1)?.after ?? 'healthy';

test('what comes after a moment changes no health but that of a test that was healthy', () => {
  fc.assert(
    fc.property(changes, fc.nat({ max: 40 }), (steps, moment) => {
      const known = steps.filter(({ at }) => at <= moment);
      const then = nowOf(known);
      const later = episodeAt(steps, moment, nowOf(steps)).health;
      if (then !== 'healthy') expect(later).toBe(then);
      // A repair that follows changes nothing at all.
      const repair = { at: 100, beganAt: null, before: nowOf(steps), after: 'healthy' as const };
      expect(episodeAt([...steps, repair], moment, 'healthy').health).toBe(later);
    }),
  );
});

test('an episode begins with its first failure', () => {
  const steps: HealthStep[] = [{ at: 10, beganAt: 5, before: 'healthy', after: 'broken' }];
  expect([4, 5, 9, 10, 11].map((moment) => episodeAt(steps, moment, 'broken').health)).toEqual([
    'healthy',
    'broken',
    'broken',
    'broken',
    'broken',
  ]);
});

test('an episode tells its first failure, and its end once there is one', () => {
  fc.assert(
    fc.property(changes, fc.nat({ max: 40 }), (steps, moment) => {
      const { health, beganAt, endedAt } = episodeAt(steps, moment, nowOf(steps));
      if (health === 'healthy') expect([beganAt, endedAt]).toEqual([null, null]);
      else {
        expect(beganAt).not.toBeNull();
        const later = steps.filter(({ at }) => at > moment);
        expect(endedAt).toBe(later.find(({ after }) => after === 'healthy')?.at ?? null);
      }
    }),
  );
});
