/** The reports of a job as `gate` reads them: which files are reports, and which of their tests have failed. */
import { afterAll, describe, expect, test } from 'bun:test';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { reportFilesOf } from '../../src/client/files.ts';
import { readReports } from '../../src/client/gate/reports.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { goTest } from '../../src/formats/go-test/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { makeFolder } from '../support/folder.ts';
import { fixtureBytes } from '../support/parsing.ts';

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folderWith(files: Record<string, string | Uint8Array>): string {
  const folder = makeFolder('ci-insights-reports-');
  folders.push(folder);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  return folder;
}

const REPORT =
  '<testsuite name="s"><testcase classname="shop" name="pays"><failure message="no"/></testcase></testsuite>';

describe('files of a folder', () => {
  const OTHERS: Record<string, string> = {
    'failsafe-summary.xml':
      '<?xml version="1.0"?><failsafe-summary result="255"><completed>2</completed></failsafe-summary>',
    'testng-results.xml': '<testng-results total="1"><suite name="s"/></testng-results>',
    'jacoco.xml':
      '<?xml version="1.0"?><!DOCTYPE report PUBLIC "-//JACOCO//DTD Report 1.1//EN" "report.dtd"><report name="s"/>',
    'cobertura.xml': '<!DOCTYPE coverage SYSTEM "http://x/coverage-04.dtd"><coverage line-rate="1">&nbsp;</coverage>',
    'checkstyle.xml': '<checkstyle version="10"><file name="a"/></checkstyle>',
    'pom.xml': '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion></project>',
    'results.trx.xml': '<TestRun/>',
  };
  const BROKEN: Record<string, string> = {
    'empty.xml': '',
    'blank.xml': '\n',
    'cut.xml': REPORT.slice(0, 60),
    'cut-summary.xml': '<failsafe-summary><completed>',
    'text.xml': 'no XML at all',
  };
  const cwd = () => folderWith({ 'TEST-a.xml': REPORT, ...OTHERS, ...BROKEN });

  test('that are whole documents of another kind are left out; what is empty or cut short is not', async () => {
    for (const pattern of ['.', '*.xml', '**/*.xml']) {
      const { files, leftOut } = await reportFilesOf([pattern], junit, cwd());
      expect(leftOut).toEqual(Object.keys(OTHERS).sort());
      expect(files).toEqual(['TEST-a.xml', ...Object.keys(BROKEN)].sort());
    }
  });
  test('that are named themselves are reports, whatever they hold', async () => {
    const { files, leftOut } = await reportFilesOf(['failsafe-summary.xml', '.'], junit, cwd());
    expect(files).toContain('failsafe-summary.xml');
    expect(leftOut).not.toContain('failsafe-summary.xml');
  });
  test.each([
    ['trx', trx, 'r.trx', '<TestRun/>', 'x.trx', '<testsuites/>'],
    ['playwright', playwright, 'r.json', '{"suites":[]}', 'package.json', '{"name":"shop"}'],
    ['playwright', playwright, 'r.json', '{"level":30}\n{"suites":[]}', 'log.json', '{"level":30}\n{"level":40}\n'],
    ['go-test', goTest, 'r.json', '{"Action":"start","Package":"p"}\n', 'coverage.json', '{"total":{"lines":1}}'],
  ] as [string, ReportFormat, string, string, string, string][])(
    'of %s, too',
    async (_, format, name, report, otherName, other) => {
      const folder = folderWith({ [name]: report, [otherName]: other });
      expect(await reportFilesOf(['.'], format, folder)).toMatchObject({ files: [name], leftOut: [otherName] });
    },
  );
  test('of the test runners themselves are all reports', async () => {
    const names = ['pytest-9.2.xml', 'node-20.xml', 'surefire-3.5-testng.xml', 'testng-7.10.xml', 'jest-30.xml'];
    const contents = await Promise.all(names.map(async (name) => [name, await fixtureBytes(`junit/${name}`)] as const));
    const { files } = await reportFilesOf(['.'], junit, folderWith(Object.fromEntries(contents)));
    expect(files).toEqual(names.toSorted());
  });
});

describe('failed tests', () => {
  const failedIn = async (files: Record<string, string | Uint8Array>, format: ReportFormat = junit) => {
    const cwd = folderWith(files);
    const { failed, troubles } = await readReports(
      format,
      Object.keys(files).map((name) => join(cwd, name)),
    );
    return { failed: failed.map(({ name }) => name), troubles };
  };
  const pays = (content: string) => `<testcase classname="shop" name="pays">${content}</testcase>`;
  const suite = (inside: string) => `<testsuite name="s">${inside}</testsuite>`;

  test('are not those that passed when they were run again, and are those whose last attempt failed', async () => {
    expect((await failedIn({ 'a.xml': suite(pays('<failure/>') + pays('')) })).failed).toEqual([]);
    expect((await failedIn({ 'a.xml': suite(pays('<failure/>') + pays('<failure/>')) })).failed).toEqual(['shop.pays']);
    expect((await failedIn({ 'a.xml': suite(pays('') + pays('<failure/>')) })).failed).toEqual(['shop.pays']);
  });
  test('are not those of an attempt in another report, of which a later one decides', async () => {
    const attempt = { 'cart/test_attempts/attempt_1.xml': suite(pays('<failure/>')) };
    expect((await failedIn({ ...attempt, 'cart/test.xml': suite(pays('')) })).failed).toEqual([]);
    expect((await failedIn({ ...attempt, 'cart/test.xml': suite(pays('<failure/>')) })).failed).toEqual(['shop.pays']);
    expect((await failedIn(attempt)).failed).toEqual(['shop.pays']);
    expect((await failedIn({ ...attempt, 'courier/test.xml': suite(pays('')) })).failed).toEqual(['shop.pays']);
  });
  test('of a package of Go that stopped come with trouble', async () => {
    const { failed, troubles } = await failedIn(
      { 'go.json': await fixtureBytes('go-test/crash-verbose.json') },
      goTest,
    );
    expect(failed).toEqual(['example.com/shop/crash.TestPanics', 'example.com/shop/late.TestNext']);
    expect(troubles).toEqual([expect.stringContaining('2 packages stopped before all tests had run')]);
  });
  test('that another tool marks as to be done are none', async () => {
    const todo = '<skipped type="todo" message="true"/><failure message="not yet"/>';
    expect(await failedIn({ 'a.xml': suite(pays(todo)) })).toEqual({ failed: [], troubles: [] });
  });
});
