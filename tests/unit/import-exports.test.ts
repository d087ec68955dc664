/** What imports read out of exports of other tools; the exports in tests/fixtures/exports are written by hand. */
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { allure } from '../../src/client/import/exports/allure.ts';
import { buildkite } from '../../src/client/import/exports/buildkite.ts';
import { ctrf } from '../../src/client/import/exports/ctrf.ts';
import {
  type Exported,
  type ExportTool,
  subjectAmong,
  withoutNumber,
  withoutPrefix,
} from '../../src/client/import/exports/export.ts';
import { filesOfExport } from '../../src/client/import/exports/files.ts';
import { reportportal } from '../../src/client/import/exports/reportportal.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import { executionsOf } from '../support/parsing.ts';
import { outcomesOf, parse } from '../support/reports.ts';

const FOLDER = new URL('../fixtures/exports/', import.meta.url).pathname;
const BEGUN = 1_790_000_000_000;

async function exportedBy(tool: ExportTool): Promise<Exported[]> {
  const found: Exported[] = [];
  for await (const one of tool.reports(await filesOfExport(join(FOLDER, tool.name)))) found.push(one);
  return found;
}

async function uploadOf(one: Exported | undefined) {
  if (!one || 'leftOut' in one) throw new Error('no report');
  const format = FORMATS.find(({ name }) => name === one.format);
  if (!format) throw new Error('no format');
  return parse(format, await one.read());
}

describe('exports', () => {
  test('CTRF: build, commit and branch come from the environment', async () => {
    const found = await exportedBy(ctrf);
    expect(found).toMatchObject([
      {
        path: '101/ctrf-report.json',
        told: {
          pipeline: 'shop',
          job: 'jest',
          runId: '101',
          commit: 'a'.repeat(40),
          branch: 'main',
          endedAt: BEGUN + 200,
          url: 'https://ci.example.com/shop/101',
        },
      },
      { told: { pipeline: 'shop', runId: '102', commit: 'b'.repeat(40), branch: 'main' } },
      { told: { pipeline: 'CTRF', runId: 'local/ctrf-report.json', commit: undefined, branch: undefined } },
      { path: 'package.json', leftOut: 'it is not a CTRF report' },
    ]);
    expect(outcomesOf(await uploadOf(found[0]))).toEqual({ 'Cart › adds': 'passed', 'Cart › pays': 'failed' });
  });

  test('Allure: a folder of results is a report; the build is that of executor.json', async () => {
    const found = await exportedBy(allure);
    expect(found).toMatchObject([
      {
        path: 'build-7',
        told: {
          pipeline: 'shop_test',
          job: 'Jenkins',
          runId: '7',
          commit: 'c'.repeat(40),
          branch: 'main',
          endedAt: BEGUN + 600,
          url: 'https://ci.example.com/job/shop_test/7/',
        },
      },
    ]);
    expect(outcomesOf(await uploadOf(found[0]))).toEqual({
      'shop.CartTest.adds': 'passed',
      'shop.CartTest.pays': 'failed',
    });
  });

  test('ReportPortal: a launch is a report of its tests, from all pages, without suites, steps and set-up', async () => {
    const found = await exportedBy(reportportal);
    expect(found).toMatchObject([
      {
        path: 'launch 11',
        told: { job: 'Nightly', runId: '6f2c8a4e-0000-4000-8000-000000000011', commit: 'd'.repeat(40), branch: 'main' },
      },
      { path: 'launch 12', leftOut: 'its items are not in the export' },
    ]);
    const upload = await uploadOf(found[0]);
    expect(outcomesOf(upload)).toEqual({
      'CartTest › adds': 'passed',
      'CartTest › pays': 'failed',
      'CartTest › ships': 'flaky',
    });
    expect(executionsOf(upload).flatMap(({ failures }) => failures.map(({ message }) => message))).toContain(
      'The bank was away',
    );
  });

  test('Buildkite: runs are found by run_env, or by the id in the path', async () => {
    const found = await exportedBy(buildkite);
    expect(found).toMatchObject([
      {
        path: '64374307-12ab-4b13-a3f3-6a408f644ea2/rspec.json',
        told: {
          runId: '64374307-12ab-4b13-a3f3-6a408f644ea2',
          commit: 'e'.repeat(40),
          branch: 'main',
          endedAt: Date.parse('2026-09-21T05:32:53.228Z'),
        },
      },
      { path: 'upload.json', told: { runId: 'build-55', commit: 'f'.repeat(40), endedAt: BEGUN + 1_000 } },
    ]);
    const upload = await uploadOf(found[0]);
    expect(outcomesOf(upload)).toEqual({ 'Cart › adds': 'passed', 'Cart › pays': 'failed' });
    expect(executionsOf(upload).map(({ durationSeconds }) => durationSeconds)).toEqual([0.75, 0.75]);
  });
});

describe('what people name themselves', () => {
  test.each([
    [
      { 'git.commit': 'abc', Branch: 'main' },
      { commit: 'abc', branch: 'main' },
    ],
    [
      { GIT_COMMIT: 'abc', GIT_BRANCH: 'origin/main' },
      { commit: 'abc', branch: 'main' },
    ],
    [
      { commit_message: 'Pay by card', base_branch: 'main' },
      { commit: undefined, branch: undefined },
    ],
    [{ commit: '  ' }, { commit: undefined, branch: undefined }],
  ])('%j', (pairs, expected) => {
    expect<unknown>(subjectAmong(Object.entries(pairs))).toEqual(expected);
  });

  test('the number of a build is not part of the name of a pipeline', () => {
    const named = (name: string) => withoutNumber(name, '7');
    expect(['shop #12', 'shop_test#7', 'Build 7', 'shop', 'py3 tests-3', 'py3'].map(named)).toEqual([
      'shop',
      'shop_test',
      'Build',
      'shop',
      'py3 tests-3',
      'py3',
    ]);
    expect(withoutPrefix('feature/origin/x')).toBe('feature/origin/x');
  });
});
