import { describe, expect, test } from 'bun:test';
import { guessDefaultBranch, isOnDefaultBranch, shortBranch } from '../../src/domain/default-branch.ts';
import { executionIdOf, repositoryIdOf, sourceKeyOf, testIdOf } from '../../src/domain/identity.ts';
import { variantOf } from '../../src/domain/result-variant.ts';
import { effectiveTime, endOfMonth, isRetained } from '../../src/domain/retention.ts';

describe('identity', () => {
  test('repositories are compared without case, and a generation makes another id', () => {
    expect(repositoryIdOf('GitHub.com', 'Acme', 'Shop')).toBe(repositoryIdOf('github.com', 'acme', 'shop'));
    expect(repositoryIdOf('github.com', 'acme', 'shop', 1)).not.toBe(repositoryIdOf('github.com', 'acme', 'shop'));
  });

  test('identifiers never change: stored rows depend on them', () => {
    const repository = repositoryIdOf('github.com', 'acme', 'shop');
    expect(repository).toBe('5beeaeba-a982-5c8b-8869-7caf1b9175bf');
    expect(testIdOf(repository, 'root level works')).toMatchInlineSnapshot(`"04dbc00f-15c9-570b-a0cb-5bcfe5695191"`);
    const origin = { branch: 'main', baseRef: '', pullRequest: 0, commit: 'c1', axes: '' };
    const source = sourceKeyOf(repository, 'trace', origin);
    expect(source).toMatchInlineSnapshot(`"d65b6d1d-8f5a-5b66-ab56-69c69c91e357"`);
    expect(executionIdOf(source, 'span', 'root level works', 0)).toMatchInlineSnapshot(`18071587244209370745n`);
    const variant = variantOf({ status: 'failed', isFlaky: false, failures: [[1, 'Error', 'no', null]] });
    expect(executionIdOf(source, 'span', 'root level works', variant)).toMatchInlineSnapshot(`7348516531440219769n`);
  });
});

describe('the default branch', () => {
  const run = { branch: 'main', baseRef: '', pullRequest: 0 };
  test('a run on the branch itself counts for it', () => expect(isOnDefaultBranch(run, 'main')).toBe(true));
  test.each([
    ['a pull request', { ...run, pullRequest: 7 }],
    ['a base ref', { ...run, baseRef: 'main' }],
    ['no branch', { ...run, branch: '' }],
    ['another branch', { ...run, branch: 'feat' }],
  ])('a run with %s does not', (_, other) => expect(isOnDefaultBranch(other, 'main')).toBe(false));
  test.each(['gh-readonly-queue/main/pr-7-abc', 'mergify/merge-queue/abc'])('a run on %s never does', (branch) => {
    expect(isOnDefaultBranch({ ...run, branch }, branch)).toBe(false);
  });
  test('nothing is on a default branch that is unknown', () => expect(isOnDefaultBranch(run, null)).toBe(false));
  test('main and master are guessed, from runs on the branch itself', () => {
    expect(guessDefaultBranch(run)).toBe('main');
    expect(guessDefaultBranch({ ...run, branch: 'master' })).toBe('master');
    expect(guessDefaultBranch({ ...run, branch: 'develop' })).toBeNull();
    expect(guessDefaultBranch({ ...run, pullRequest: 1 })).toBeNull();
  });
  test('refs/heads/ is not part of a branch name', () => expect(shortBranch('refs/heads/a/b')).toBe('a/b'));
});

describe('time and retention', () => {
  const received = Date.parse('2026-11-21T12:00:00Z');
  test.each([
    ['missing', null, received, false],
    ['plausible', received - 5_000, received - 5_000, false],
    ['ten minutes ahead', received + 600_000, received + 600_000, false],
    ['more than ten minutes ahead', received + 600_001, received, true],
    ['before 2000', Date.UTC(1999, 11, 31), received, true],
  ])('a time that is %s', (_, reported, at, isReplaced) => {
    expect(effectiveTime(reported, received)).toEqual({ at, isReplaced });
  });

  test('a month is kept until its last day is as old as the retention', () => {
    const august = Date.parse('2026-08-01T00:00:00Z');
    expect(endOfMonth(august)).toBe(Date.parse('2026-09-01T00:00:00Z'));
    expect(isRetained(august, Date.parse('2026-11-29T23:59:59Z'), 90)).toBe(true);
    expect(isRetained(august, Date.parse('2026-11-30T00:00:00Z'), 90)).toBe(false);
  });
});
