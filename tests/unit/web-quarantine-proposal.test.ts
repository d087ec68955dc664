/** To what the form of a quarantine is narrowed at first: what it can write, and what excuses the failure in question. */
import { describe, expect, test } from 'bun:test';
import { draftFor, type Failure } from '../../web/pages/quarantine-draft.ts';
import { proposalOf } from '../../web/pages/quarantine-proposal.ts';

const failsWith = (scope: object = {}) => ({
  sentence: 'Fails only with os=windows.',
  scope: { pipeline_name: null, job_name: null, axes: { os: ['windows'] }, ...scope },
});
const failureIn = (...legs: Record<string, string>[]): Failure => ({
  ...{ pipeline: 'CI', job: 'unit', group: null },
  legs: legs.map((axes) => ({ axes })),
});

describe('the proposed narrowing', () => {
  test('is the scope of the explanation, with a sentence', () => {
    const proposal = proposalOf(failsWith());
    expect(proposal).toMatchObject({ reason: 'It fails only with os=windows.' });
    expect(draftFor(undefined, proposal)).toMatchObject({ pipeline: null, job: null, axes: { os: ['windows'] } });
  });

  test('keeps the place of a failure unless the scope names one', () => {
    const failure = failureIn({ os: 'windows' });
    const place = (scope?: object) => draftFor(failure, proposalOf(failsWith(scope), failure));
    expect(place()).toMatchObject({ pipeline: 'CI', job: 'unit', axes: { os: ['windows'] } });
    expect(place({ pipeline_name: 'CI' })).toMatchObject({ pipeline: 'CI', job: null });
    expect(place({ job_name: 'unit' })).toMatchObject({ pipeline: null, job: 'unit' });
  });

  test('is none for a failure that it would not excuse', () => {
    for (const legs of [[{ os: 'linux' }], [{ os: 'windows' }, { os: 'linux' }], [{}]] as Record<string, string>[][])
      expect(proposalOf(failsWith(), failureIn(...legs))).toBeUndefined();
    const failure = failureIn({ os: 'windows' });
    expect(proposalOf(failsWith({ job_name: 'e2e' }), failure)).toBeUndefined();
    expect(proposalOf(failsWith({ pipeline_name: 'nightly' }), failure)).toBeUndefined();
    expect(draftFor(failure, undefined)).toMatchObject({ pipeline: 'CI', job: 'unit', axes: null });
  });

  test('is none without a scope, or for axes that the field cannot write', () => {
    expect(proposalOf(null)).toBeUndefined();
    expect(proposalOf({ ...failsWith(), scope: null })).toBeUndefined();
    expect(proposalOf(failsWith({ axes: { 'a,b': ['x'] } }))).toBeUndefined();
  });
});
