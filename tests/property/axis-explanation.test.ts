/** Which axis explains the failures of a test: what must hold whatever the names, and how often it is right. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { type Axes, axesOf, axesText } from '../../src/domain/axes.ts';
import { type AxisExplanation, explainByAxes, type LegResult, STRATA_MIN } from '../../src/domain/axis-explanation.ts';
import { legsNamed } from '../simulation/axis-rules.ts';
import { type AxisWorldKind, CAUSES, makeAxisWorld, NO_CAUSES } from '../simulation/axis-worlds.ts';

const OS = ['linux', 'macos', 'windows'];
const PYTHON = ['3.12', '3.13'];
const MATRIX = OS.flatMap((os) => PYTHON.map((python) => axesText({ os, python })));

/** Each leg of the matrix once per commit and day. */
const runsWhere = (runs: number, isFailed: (axes: Axes, run: number) => boolean): LegResult[] =>
  Array.from({ length: runs }, (_, run) =>
    MATRIX.map((leg) => ({ commit: `c${run}`, day: run, leg, isFailed: isFailed(axesOf(leg), run) })),
  ).flat();

const world = fc
  .record({ kind: fc.constantFrom(...CAUSES, ...NO_CAUSES), seed: fc.nat(1e6), runs: fc.integer({ min: 1, max: 30 }) })
  .map(({ kind, seed, runs }) => makeAxisWorld(kind, seed, runs));
const RUNS = { numRuns: 40 };

/** What is said, but for what it is called. */
const shapeOf = (said: AxisExplanation) => ({ ...said, ...('terms' in said && { terms: said.terms.length }) });

test('a test that fails on one combination of two axes is said to', () => {
  const said = explainByAxes(runsWhere(12, ({ os, python }) => os === 'windows' && python === '3.13'));
  expect(said).toMatchObject({
    kind: 'axes',
    isOnly: true,
    terms: [
      [
        { axis: 'os', values: ['windows'] },
        { axis: 'python', values: ['3.13'] },
      ],
    ],
    inside: { failed: 12, ran: 12 },
    outside: { failed: 0, ran: 60 },
  });
});

test('either of two values of an axis, and one value, have their names', () => {
  expect(explainByAxes(runsWhere(12, ({ os }) => os === 'windows'))).toMatchObject({
    terms: [[{ axis: 'os', values: ['windows'] }]],
  });
  const wide = ['a', 'b', 'c', 'd', 'e'].map((region) => axesText({ region }));
  const results = Array.from({ length: 12 }, (_, run) =>
    wide.map((leg, i) => ({ commit: `c${run}`, day: run, leg, isFailed: i < 2 })),
  ).flat();
  expect(explainByAxes(results)).toMatchObject({ terms: [[{ axis: 'region', values: ['a', 'b'] }]] });
});

test('a test that fails in any leg is said to fail in every leg', () => {
  const said = explainByAxes(
    runsWhere(40, ({ os, python }, run) => OS.indexOf(os ?? '') * 2 + PYTHON.indexOf(python ?? '') === run % 6),
  );
  expect(said.kind).toBe('every_leg');
});

test('fewer than three commits in which some legs failed and some passed name nothing', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: STRATA_MIN - 1 }), (runs) => {
      expect(explainByAxes(runsWhere(runs, ({ os }) => os === 'windows'))).toEqual({ kind: 'unknown' });
    }),
  );
});

describe('what is said does not depend on', () => {
  test('the names of axes, values and commits', () => {
    fc.assert(
      fc.property(world, ({ results }) => {
        const renamed = results.map(({ leg, commit, ...rest }) => ({
          ...rest,
          commit: `${commit}'`,
          leg: axesText(
            Object.fromEntries(Object.entries(axesOf(leg)).map(([axis, value]) => [`x${axis}`, `y${value}`])),
          ),
        }));
        expect(shapeOf(explainByAxes(renamed))).toEqual(shapeOf(explainByAxes(results)));
      }),
      RUNS,
    );
  });

  test('the order of the legs of a commit', () => {
    fc.assert(
      fc.property(world, ({ results }) => {
        const turned = Object.values(Object.groupBy(results, ({ day }) => day)).flatMap(
          (run) => run?.toReversed() ?? [],
        );
        const [said, other] = [explainByAxes(results), explainByAxes(turned)];
        expect(other.kind).toBe(said.kind);
        if ('terms' in said && 'terms' in other) expect(other.terms).toEqual(said.terms);
      }),
      RUNS,
    );
  });

  test('an axis that has one value everywhere', () => {
    fc.assert(
      fc.property(world, ({ results }) => {
        const more = results.map((one) => ({ ...one, leg: axesText({ ...axesOf(one.leg), constant: 'same' }) }));
        const [said, other] = [explainByAxes(results), explainByAxes(more)];
        expect(other.kind).toBe(said.kind);
        if (said.kind === 'axes' && other.kind === 'axes') expect(other.terms).toEqual(said.terms);
      }),
      RUNS,
    );
  });

  test('commits on which all legs failed, or none', () => {
    fc.assert(
      fc.property(world, fc.boolean(), ({ results, legs }, isFailed) => {
        const whole = legs.map((leg) => ({ commit: 'whole', day: 999, leg: axesText(leg), isFailed }));
        expect(explainByAxes([...results, ...whole]).kind).toBe(explainByAxes(results).kind);
      }),
      RUNS,
    );
  });
});

test('two axes that always agree are named together', () => {
  const both = runsWhere(12, ({ os }) => os === 'windows').map((one) => {
    const axes = axesOf(one.leg);
    return { ...one, leg: axesText({ ...axes, shell: axes.os === 'windows' ? 'pwsh' : 'bash' }) };
  });
  expect(explainByAxes(both)).toMatchObject({
    terms: [[{ axis: 'os', values: ['windows'] }], [{ axis: 'shell', values: ['pwsh'] }]],
  });
});

test('more legs or values than can be compared in good time name nothing', () => {
  const wide = (legs: number, axesOfLeg: (leg: number) => Axes) =>
    Array.from({ length: 8 }, (_, run) =>
      Array.from({ length: legs }, (_, i) => ({
        commit: `c${run}`,
        day: run,
        leg: axesText({ os: i % 2 === 0 ? 'linux' : 'windows', ...axesOfLeg(i) }),
        isFailed: i % 2 === 1,
      })),
    ).flat();
  const kindOf = (results: LegResult[]) => explainByAxes(results).kind;
  expect(kindOf(wide(180, (i) => ({ n: String(((i >> 1) % 90) >> 2) })))).toBe('axes');
  expect(kindOf(wide(2_000, (i) => ({ [`x${i}`]: '1', [`y${i}`]: '1' })))).toBe('unknown');
  expect(kindOf(wide(180, (i) => ({ [`x${i}`]: '1', [`y${i}`]: '1' })))).toBe('unknown');
});

describe('in worlds', () => {
  const WORLDS = 60;
  const each = (kind: AxisWorldKind) => Array.from({ length: WORLDS }, (_, i) => makeAxisWorld(kind, 5_000 + i, 30));

  test('what is named is right, and most of what can be seen is named', () => {
    const all = CAUSES.flatMap(each).filter(({ share }) => share >= 0.3);
    const named = all.map(({ results, legs, hit }) => ({ named: legsNamed(explainByAxes(results), legs), hit }));
    const said = named.filter((one) => one.named);
    const right = said.filter((one) => one.named?.every((is, i) => is === one.hit?.[i]));
    expect(right.length).toBeGreaterThanOrEqual(0.99 * said.length);
    expect(right.length).toBeGreaterThanOrEqual(0.8 * all.length);
  });

  test('nothing is named where there is no cause', () => {
    const named = NO_CAUSES.flatMap(each).filter(({ results, legs }) => legsNamed(explainByAxes(results), legs));
    expect(named.length).toBeLessThanOrEqual(1);
  });
});
