/** The scope that an explanation gives a quarantine, on random explanations. */
import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import { axesText } from '../../src/domain/axes.ts';
import type { AxisExplanation } from '../../src/domain/axis-explanation.ts';
import { automaticScope, proposedScope, scopeSentence, WHOLE_SCOPE } from '../../src/domain/proposed-scope.ts';
import { appliesInPlace } from '../../src/domain/quarantine-scope.ts';

const NAMES = { pipeline: 'pipeline', job: 'job' };
const value = fc.constantFrom('a', 'b', 'c');
const axesOfLeg = fc.record({ os: value, python: value });
const leg = fc.record({
  pipelineName: fc.constant('CI'),
  jobName: fc.constantFrom('unit', 'e2e'),
  axes: axesOfLeg.map(axesText),
});
const condition = fc.record({
  axis: fc.constantFrom('os', 'python', 'job'),
  values: fc.uniqueArray(value, { minLength: 1, maxLength: 2 }),
});
const explanation: fc.Arbitrary<AxisExplanation> = fc.record({
  kind: fc.constantFrom('axes', 'leg'),
  terms: fc.array(fc.array(condition, { minLength: 1, maxLength: 2 }), { minLength: 1, maxLength: 2 }),
  isOnly: fc.boolean(),
  probability: fc.double({ min: 0.95, max: 1, noNaN: true }),
  strata: fc.constant(5),
  inside: fc.constant({ failed: 5, ran: 6 }),
  outside: fc.record({ failed: fc.integer({ min: 0, max: 1 }), ran: fc.constant(60) }),
});

describe('the scope of a quarantine that follows the axes', () => {
  test('an automatic one covers every leg that shows the evidence, and is narrowed only if the explanation is sure', () => {
    fc.assert(
      fc.property(explanation, fc.array(leg, { minLength: 1, maxLength: 4 }), (explained, legs) => {
        const scope = proposedScope(explained, NAMES);
        const taken = automaticScope({ explanation: explained, scope }, legs);
        expect(legs.every((one) => appliesInPlace(taken, one))).toBe(true);
        if ('outside' in explained && (explained.outside.failed > 0 || explained.probability < 0.99))
          expect(taken).toEqual(WHOLE_SCOPE);
      }),
    );
  });

  test('a proposed one excuses nothing that one of the terms does not describe', () => {
    fc.assert(
      fc.property(explanation, leg, (explained, one) => {
        const scope = proposedScope(explained, NAMES);
        if (!scope || !('terms' in explained) || !appliesInPlace(scope, one)) return;
        const all: Record<string, string> = { ...JSON.parse(one.axes), job: one.jobName };
        for (const term of explained.terms)
          for (const { axis, values } of term) expect(values).toContain(all[axis] ?? '');
      }),
    );
  });

  test('its reason says to what it is narrowed', () => {
    expect(scopeSentence({ pipelineName: null, jobName: null, axes: { os: ['windows'] } })).toBe(
      ' Fails only with os=windows.',
    );
    expect(scopeSentence(WHOLE_SCOPE)).toBe('');
  });

  test('what fails in every leg, or mostly in one, proposes nothing', () => {
    expect(proposedScope({ kind: 'unknown' }, NAMES)).toBeNull();
    expect(proposedScope({ kind: 'every_leg', probability: 1 }, NAMES)).toBeNull();
  });
});
