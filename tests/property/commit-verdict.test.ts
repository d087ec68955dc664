/** The meaning of a failed test for its commit, whatever its history. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { COMMIT_VERDICTS, commitVerdict, type FailedOnCommit, isNewGroup } from '../../src/domain/commit-verdict.ts';
import { HEALTHS } from '../../src/domain/status.ts';

const moment = fc.integer({ min: 0, max: 20 });
const group = fc.record({ firstHereAt: moment, firstOnDefaultAt: fc.option(moment) });
const failed: fc.Arbitrary<FailedOnCommit> = fc.record({
  isQuarantined: fc.boolean(),
  isTroubled: fc.boolean(),
  hasPassedOnDefault: fc.boolean(),
  groups: fc.array(group, { maxLength: 3 }),
  health: fc.option(fc.constantFrom(...HEALTHS)),
});
const isMains = (one: FailedOnCommit): boolean =>
  one.health === 'broken' && one.groups.length > 0 && !one.groups.some(isNewGroup);
const isInfrastructure = (one: FailedOnCommit): boolean => one.isTroubled && one.hasPassedOnDefault && !isMains(one);
const excused = (one: FailedOnCommit): boolean => one.isQuarantined || isInfrastructure(one);
const hold = (property: (one: FailedOnCommit) => void): void =>
  fc.assert(fc.property(failed, property), { numRuns: 500 });

test('a failure whose group is new is never called flaky or broken, whatever the history of its test', () => {
  hold((one) => {
    if (one.groups.some(isNewGroup)) expect(['known_flaky', 'broken']).not.toContain(commitVerdict(one));
    if (one.groups.some(isNewGroup) && !excused(one)) expect(commitVerdict(one)).toBe('new');
  });
});

test('a test that is healthy on the default branch, or never ran there, is no excuse for its failure', () => {
  hold((one) => {
    if ((one.health === 'healthy' || one.health === null) && !excused(one)) expect(commitVerdict(one)).toBe('new');
  });
});

test('only a quarantine makes a failure quarantined, and only trouble makes one infrastructure of a test that had passed', () => {
  hold((one) => {
    expect(commitVerdict(one) === 'quarantined').toBe(one.isQuarantined);
    expect(commitVerdict(one) === 'infrastructure').toBe(isInfrastructure(one) && !one.isQuarantined);
    expect(COMMIT_VERDICTS).toContain(commitVerdict(one));
  });
});

test('a fault of the default branch is told as that, also in a troubled run', () => {
  hold((one) => {
    if (isMains(one) && !one.isQuarantined) expect(commitVerdict(one)).toBe('broken');
  });
});

test('what the default branch shows from then on changes no verdict: the commit may have been merged', () => {
  fc.assert(
    fc.property(failed, fc.nat({ max: 5 }), (one, later) => {
      const seenLater = one.groups.map((of) => ({
        ...of,
        firstOnDefaultAt: of.firstOnDefaultAt ?? of.firstHereAt + later,
      }));
      expect(commitVerdict({ ...one, groups: seenLater })).toBe(commitVerdict(one));
    }),
  );
});

test('the order of the groups does not matter, and another new group never excuses', () => {
  fc.assert(
    fc.property(failed, moment, (one, firstHereAt) => {
      expect(commitVerdict({ ...one, groups: one.groups.toReversed() })).toBe(commitVerdict(one));
      const more = commitVerdict({ ...one, groups: [...one.groups, { firstHereAt, firstOnDefaultAt: null }] });
      const isExplained = one.isTroubled && one.hasPassedOnDefault;
      expect(more).toBe(one.isQuarantined ? 'quarantined' : isExplained ? 'infrastructure' : 'new');
    }),
  );
});
