/** Bounds change the run that a report names. */
import { describe, expect, test } from 'bun:test';
import type { Run } from '../../src/domain/columns.ts';
import { guessDefaultBranch, isOnDefaultBranch, originOf } from '../../src/domain/default-branch.ts';
import { boundRun, boundSource, boundsOfKey, type ReportBounds, unboundable } from '../../src/domain/report-bounds.ts';

const RUN: Run = {
  ...{ pipeline_name: 'CI', job_name: 'unit', run_id: '1', run_attempt: 1, commit: 'c0ffee', base_ref: null },
  ...{ branch: 'main', pull_request: null, default_branch: 'main', job_url: null },
  ...{ framework: null, framework_version: null, language: null },
};
const PULLS_ONLY = boundsOfKey(true, null) as ReportBounds;
const RELEASES = boundsOfKey(false, ['main', 'refs/heads/release/*']) as ReportBounds;

/** Throws with the refusal. */
function bound(run: Partial<Run>, bounds: ReportBounds): Run {
  const result = boundRun({ ...RUN, ...run }, bounds);
  if ('refusal' in result) throw new Error(result.refusal);
  return result.run;
}

test('what a key for pull requests only sends is on no default branch, and names or implies none', () => {
  const branches = ['main', 'refs/heads/main', 'master', 'feature', null];
  for (const branch of branches)
    for (const pull_request of [null, 7])
      for (const base_ref of [null, '', 'main', 'refs/heads/'])
        for (const default_branch of ['main', 'feature', null]) {
          const run = bound({ branch, pull_request, base_ref, default_branch }, PULLS_ONLY);
          const origin = originOf(run);
          for (const known of ['main', 'master', 'feature', ''])
            expect([run, isOnDefaultBranch(origin, known)]).toEqual([run, false]);
          expect([run.default_branch, guessDefaultBranch(origin), run.is_confined]).toEqual([null, null, true]);
        }
});

test('a report without a pull request loses its branch with a warning, and one with it keeps everything', () => {
  expect(boundRun(RUN, PULLS_ONLY)).toMatchObject({
    run: { branch: null, commit: 'c0ffee' },
    warning: expect.stringContaining('its branch main is left out'),
  });
  const pull = boundRun({ ...RUN, branch: 'feature', pull_request: 7 }, PULLS_ONLY);
  expect(pull).toEqual({
    run: { ...RUN, branch: 'feature', pull_request: 7, default_branch: null, is_confined: true },
  });
});

describe('a key for branches', () => {
  test.each(['main', 'refs/heads/main', 'release/1'])('sends reports of %s', (branch) => {
    const run = bound({ branch }, RELEASES);
    expect([run.branch, run.default_branch, run.is_confined]).toEqual([branch, null, undefined]);
  });

  test.each(['feature', 'release/1/x', 'mainly', '', null])('sends none of %p', (branch) => {
    expect(() => bound({ branch }, RELEASES)).toThrow(
      'This credential is for the branches main, release/*, and the report',
    );
  });
});

test('claims replace what the job says, and leave the rest to it', () => {
  const claimed: ReportBounds = {
    ...{ pull_requests_only: false, branches: null, is_confined: true },
    run: { branch: 'feature', commit: 'signed', pull_request: null, base_ref: null },
  };
  expect(bound({ branch: 'main', pull_request: 7, base_ref: 'main', job_name: 'any' }, claimed)).toMatchObject({
    ...{
      branch: 'feature',
      commit: 'signed',
      pull_request: null,
      base_ref: null,
      default_branch: null,
      job_name: 'any',
    },
  });
  const silent = { ...claimed, run: {} };
  expect(bound({}, silent)).toMatchObject({ branch: 'main', commit: 'c0ffee' });
});

test('sources of different branches, pull requests and kinds of credentials never meet', () => {
  const of = (run: Partial<Run>, bounds: ReportBounds) => boundSource({ ...RUN, ...run }, bounds)('report');
  const signed: ReportBounds = { ...PULLS_ONLY, run: { branch: 'x' } };
  const all = [
    'report',
    of({}, PULLS_ONLY),
    of({ pull_request: 7 }, PULLS_ONLY),
    of({ pull_request: 8 }, PULLS_ONLY),
    of({ pull_request: 7 }, signed),
    of({}, RELEASES),
    of({ branch: 'release/1' }, RELEASES),
  ];
  expect(new Set(all).size).toBe(all.length);
  expect(of({ pull_request: 7 }, PULLS_ONLY)).toBe(of({ pull_request: 7 }, PULLS_ONLY));
});

test('a bound key uploads and does nothing more', () => {
  expect(unboundable('upload', true, null)).toBeUndefined();
  expect(unboundable('upload', false, ['main'])).toBeUndefined();
  expect(unboundable('ci', false, null)).toBeUndefined();
  for (const scope of ['ci', 'admin', 'view'] as const) {
    expect(unboundable(scope, true, null)?.field).toBe('scope');
    expect(unboundable(scope, false, ['main'])?.field).toBe('scope');
  }
  expect(unboundable('upload', true, ['main'])?.field).toBe('branches');
});
