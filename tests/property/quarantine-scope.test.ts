/** The scope of quarantines, and to whom narrowed ones are shown. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import {
  covers,
  type FailurePlace,
  isNarrowed,
  NOT_NARROWED,
  narrowingOf,
  orderedFailureIds,
  type QuarantineScope,
  type ScopeQuestion,
  shownTo,
} from '../../src/domain/quarantine-scope.ts';

const FAILURES = [1, 2, 3].map((n) => `00000000-0000-5000-8000-00000000000${n}`);
const branch = fc.constantFrom('main', 'release/1', 'topic');
const place = fc.constantFrom('CI', 'nightly', '');
const job = fc.constantFrom('unit', 'e2e');
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const scope: fc.Arbitrary<QuarantineScope> = fc.record({
  branch: maybe(fc.constantFrom('main', 'release/*', '**')),
  pipelineName: maybe(place),
  jobName: maybe(job),
  failureIds: maybe(fc.subarray(FAILURES, { minLength: 1 })),
});
const failure: fc.Arbitrary<FailurePlace> = fc.record({
  branch,
  pipelineName: place,
  jobName: job,
  failureId: fc.constantFrom(...FAILURES),
});
/** Which of its circumstances a client names when it asks. */
const named = fc.record({ branch: fc.boolean(), pipelineName: fc.boolean(), jobName: fc.boolean() });
const asks = (failed: FailurePlace, names: { branch: boolean; pipelineName: boolean; jobName: boolean }) => ({
  branch: names.branch ? failed.branch : undefined,
  pipelineName: names.pipelineName ? failed.pipelineName : undefined,
  jobName: names.jobName ? failed.jobName : undefined,
});

const isShown = (one: QuarantineScope, asked: ScopeQuestion): boolean => shownTo([one], asked).length > 0;

describe('narrowed quarantines', () => {
  test('a client that goes by names alone excuses nothing that was not to be excused', () => {
    fc.assert(
      fc.property(scope, failure, named, (one, failed, names) => {
        const shown = isShown(one, { ...asks(failed, { ...names, branch: true }), readsNarrowings: false });
        if (shown) expect(covers(one, failed)).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test('a client that compares narrowings itself misses nothing that covers its failure', () => {
    fc.assert(
      fc.property(scope, failure, named, (one, failed, names) => {
        const shown = isShown(one, { ...asks(failed, names), readsNarrowings: true });
        if (covers(one, failed)) expect(shown).toBe(true);
      }),
      { numRuns: 3_000 },
    );
  });

  test('one that is not narrowed is shown to every client of its branch, as before', () => {
    fc.assert(
      fc.property(scope, failure, named, fc.boolean(), ({ branch }, failed, names, readsNarrowings) => {
        const one = { branch, pipelineName: null, jobName: null, failureIds: null };
        const shown = isShown(one, { ...asks(failed, { ...names, branch: true }), readsNarrowings });
        expect([isNarrowed(one), shown]).toEqual([false, covers(one, failed)]);
      }),
    );
  });
});

describe('narrowings', () => {
  test('equal ones have one value, different ones have different values, none has its own', () => {
    fc.assert(
      fc.property(scope, scope, (one, other) => {
        const narrowing = ({ pipelineName, jobName, failureIds }: QuarantineScope) =>
          JSON.stringify([pipelineName, jobName, failureIds]);
        expect(narrowingOf(one) === narrowingOf(other)).toBe(narrowing(one) === narrowing(other));
        expect(narrowingOf(one) === NOT_NARROWED).toBe(!isNarrowed(one));
      }),
    );
  });

  test('the order, the case and repetitions of failure groups mean nothing', () => {
    fc.assert(
      fc.property(fc.subarray(FAILURES, { minLength: 1 }), fc.infiniteStream(fc.boolean()), (ids, coins) => {
        const shuffled = ids.flatMap((id) => (coins.next().value ? [id.toUpperCase(), id] : [id])).reverse();
        expect(orderedFailureIds(shuffled)).toEqual(orderedFailureIds(ids));
      }),
    );
  });
});
