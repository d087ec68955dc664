/** Shares and quarantines of a test, as the client says them. */
import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { quarantineInWords, sharesInWords } from '../../src/client/commands/why.ts';

test('the client tells the shares of a test to a tenth of a percent, and none of a test that did not run', () => {
  const told = (failure_ratio: number, flakiness_ratio: number) =>
    sharesInWords({ failure_ratio, flakiness_ratio, success_ratio: 1 - failure_ratio });
  expect(told(32 / 115, 0)).toBe('Of its executions of the last 30 days, 27.8% failed and 0% were flaky.');
  expect(told(0.0001, 1)).toBe('Of its executions of the last 30 days, less than 0.1% failed and 100% were flaky.');
  expect(told(0.9999, 0)).toContain('more than 99.9% failed');
  expect(sharesInWords({ failure_ratio: 0, flakiness_ratio: 0, success_ratio: 0 })).toBe(
    'It has neither passed nor failed in the last 30 days.',
  );
});

test('why says everything that narrows a quarantine', () => {
  expect(quarantineInWords({ reason: 'flaky' })).toBe('Quarantined on every branch: flaky');
  expect(quarantineInWords({ branch: 'main', pipeline_name: 'CI', job_name: 'unit', failure_ids: ['1'] })).toBe(
    'Quarantined on main, only in the pipeline CI, in the CI job unit, for 1 failure: no reason given',
  );
  expect(quarantineInWords({ axes: { os: ['linux', 'windows'] } })).toContain(
    'every branch, only with os=linux or windows:',
  );
});

test('a percentage has no space before its sign, as the page writes it', () => {
  const root = new URL('../../', import.meta.url).pathname;
  const spaced: string[] = [];
  for (const path of new Bun.Glob('{src,workers,web,packages,action}/**/*.{ts,tsx}').scanSync({ cwd: root })) {
    if (path.includes('node_modules') || path.includes('/dist/') || path.includes('/gen/')) continue;
    readFileSync(`${root}${path}`, 'utf8')
      .split('\n')
      .forEach((line, i) => {
        if (/[0-9}] %/.test(line) && !/^\s*(?:\/?\*|\/\/)/.test(line)) spaced.push(`${path}:${i + 1}`);
      });
  }
  expect(spaced).toEqual([]);
});
