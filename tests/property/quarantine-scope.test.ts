/** The scope of quarantines, and to whom narrowed ones are shown. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Axes, axesOf, axesText } from '../../src/domain/axes.ts';
import {
  type AxisScope,
  axisPairs,
  axisScopeOf,
  axisScopeRejection,
  axisScopeSchema,
  axisScopeText,
  orderedAxisScope,
} from '../../src/domain/axis-scope.ts';
import {
  appliesInPlace,
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
const VALUES = { os: ['linux', 'windows', 'macos'], python: ['3.12', '3.13'], constructor: ['x'] };
const leg: fc.Arbitrary<Axes> = fc.record(
  { os: fc.constantFrom(...VALUES.os), python: fc.constantFrom(...VALUES.python), constructor: fc.constant('x') },
  { requiredKeys: [] },
);
const legs: fc.Arbitrary<AxisScope> = fc
  .record(
    {
      os: fc.subarray(VALUES.os, { minLength: 1 }),
      python: fc.subarray(VALUES.python, { minLength: 1 }),
      constructor: fc.constant(VALUES.constructor),
    },
    { requiredKeys: [] },
  )
  .filter((scope) => Object.keys(scope).length > 0);
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: null });
const scope: fc.Arbitrary<QuarantineScope> = fc.record({
  branch: maybe(fc.constantFrom('main', 'release/*', '**')),
  pipelineName: maybe(place),
  jobName: maybe(job),
  axes: maybe(legs),
  failureIds: maybe(fc.subarray(FAILURES, { minLength: 1 })),
});
const failure: fc.Arbitrary<FailurePlace> = fc.record({
  branch,
  pipelineName: place,
  jobName: job,
  axes: leg.map(axesText),
  failureId: fc.constantFrom(...FAILURES),
});
/** Which of its circumstances a client names when it asks. */
const named = fc.record({
  branch: fc.boolean(),
  pipelineName: fc.boolean(),
  jobName: fc.boolean(),
  axes: fc.subarray(Object.keys(VALUES)),
});
type Named = typeof named extends fc.Arbitrary<infer T> ? T : never;
const asks = (failed: FailurePlace, names: Named) => ({
  branch: names.branch ? failed.branch : undefined,
  pipelineName: names.pipelineName ? failed.pipelineName : undefined,
  jobName: names.jobName ? failed.jobName : undefined,
  axes: Object.fromEntries(Object.entries(axesOf(failed.axes)).filter(([name]) => names.axes.includes(name))),
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
        const one = { branch, pipelineName: null, jobName: null, axes: null, failureIds: null };
        const shown = isShown(one, { ...asks(failed, { ...names, branch: true }), readsNarrowings });
        expect([isNarrowed(one), shown]).toEqual([false, covers(one, failed)]);
      }),
    );
  });
});

describe('a quarantine that is narrowed to axes', () => {
  test('is refused for an axis named `__proto__`, and never becomes wider by losing it', () => {
    fc.assert(
      fc.property(maybe(legs), fc.array(fc.string(), { maxLength: 3 }), fc.nat(3), (axes, values, at) => {
        const entries = Object.entries(axes ?? {}).toSpliced(at, 0, ['__proto__', values]);
        const sent: unknown = JSON.parse(JSON.stringify(Object.fromEntries(entries)));
        expect(axisScopeSchema.safeParse(sent).error?.issues[0]?.message).toContain('"__proto__"');
        expect(axisScopeRejection(Object.fromEntries(entries))).not.toBeNull();
      }),
    );
  });

  test('covers a leg exactly if it tells each axis, with one of the values', () => {
    fc.assert(
      fc.property(legs, failure, (axes, failed) => {
        const one = { branch: null, pipelineName: null, jobName: null, axes, failureIds: null };
        const own: Readonly<Record<string, string>> = { ...axesOf(failed.axes) };
        const isIn = Object.keys(axes).every(
          (name) => Object.hasOwn(own, name) && axes[name]?.includes(own[name] ?? '') === true,
        );
        expect(covers(one, failed)).toBe(isIn);
        expect(appliesInPlace(one, failed)).toBe(isIn);
      }),
    );
  });

  test('covers less with each axis, and more with each value', () => {
    fc.assert(
      fc.property(scope, legs, failure, (one, axes, failed) => {
        const both = { ...one, axes: { ...axes, ...one.axes } };
        if (covers(both, failed)) expect(covers(one, failed)).toBe(true);
        const wider = {
          ...one,
          axes:
            one.axes &&
            Object.fromEntries(Object.keys(one.axes).map((name) => [name, VALUES[name as keyof typeof VALUES]])),
        };
        if (covers(one, failed)) expect(covers(wider, failed)).toBe(true);
      }),
    );
  });

  test('covers something where the legs of a CI job are taken together', () => {
    fc.assert(
      fc.property(legs, failure, (axes, { pipelineName, jobName }) => {
        const one = { pipelineName: null, jobName: null, axes };
        expect(appliesInPlace(one, { pipelineName, jobName })).toBe(true);
        expect(appliesInPlace(one, { pipelineName, jobName, axes: '*' })).toBe(true);
        expect(appliesInPlace(one, { pipelineName, jobName, axes: '' })).toBe(false);
      }),
    );
  });
});

const CAUSE = '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14';
type Stored = QuarantineScope & { causeId: string | null };

describe('narrowings', () => {
  test('equal ones have one value, different ones have different values, none has its own', () => {
    fc.assert(
      fc.property(scope, scope, fc.constantFrom(null, CAUSE), (anyOne, anyOther, causeId) => {
        // The groups of a cause change.
        const stored = (any: QuarantineScope): Stored => ({
          ...any,
          causeId: any.failureIds === null ? null : causeId,
        });
        const [one, other] = [stored(anyOne), stored(anyOther)];
        const narrowing = ({ pipelineName, jobName, axes, failureIds, causeId: ofCause }: Stored) =>
          JSON.stringify([pipelineName, jobName, axes && axisScopeText(axes), ofCause ?? failureIds]);
        expect(narrowingOf(one) === narrowingOf(other)).toBe(narrowing(one) === narrowing(other));
        expect(narrowingOf(one) === NOT_NARROWED).toBe(!isNarrowed(one));
      }),
    );
  });

  test('the order of axes and values means nothing, nor do repetitions, and the stored text gives them back', () => {
    fc.assert(
      fc.property(legs, (axes) => {
        const turned = Object.fromEntries(
          Object.entries(axes)
            .reverse()
            .map(([name, values]) => [name, [...values, ...values].reverse()]),
        );
        expect(axisScopeText(turned)).toBe(axisScopeText(axes));
        expect(axisPairs(axisScopeOf(axisScopeText(turned)))).toEqual(axisPairs(orderedAxisScope(axes)));
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
