/** Files that reports name become links: which, of which failure, and that a path never leads elsewhere. */
import { describe, expect, test } from 'bun:test';
import {
  type AttachmentsPlace,
  attachmentKindOf,
  attachmentsFolderOf,
  attachmentsOf,
  attachmentsText,
  attachmentUrl,
} from '../../src/domain/attachments.ts';
import { ATTACHMENTS_MAX } from '../../src/domain/limits.ts';
import { allure } from '../../src/formats/allure/format.ts';
import { ctrf } from '../../src/formats/ctrf/format.ts';
import { cucumber } from '../../src/formats/cucumber/format.ts';
import type { ReportFormat } from '../../src/formats/format.ts';
import { junit } from '../../src/formats/junit/format.ts';
import { nunit } from '../../src/formats/nunit/format.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { robot } from '../../src/formats/robot/format.ts';
import { trx } from '../../src/formats/trx/format.ts';
import { executionsOf } from '../support/parsing.ts';
import { randomFrom } from '../support/random.ts';
import { parse } from '../support/reports.ts';

const PLACE: AttachmentsPlace = { url: 'https://files.example/runs/7/', root: '/home/me/shop' };

describe('an address', () => {
  const cases: [string, string | null][] = [
    ['shots/cart.png', 'https://files.example/runs/7/shots/cart.png'],
    ['/home/me/shop/test-results/a b/trace.zip', 'https://files.example/runs/7/test-results/a%20b/trace.zip'],
    ['./shots/../shots/cart.png', 'https://files.example/runs/7/shots/cart.png'],
    ['shots\\cart.png', 'https://files.example/runs/7/shots/cart.png'],
    ['file:///home/me/shop/a%20b.png', 'https://files.example/runs/7/a%20b.png'],
    ['https://other.example/cart.png?sig=1', 'https://other.example/cart.png?sig=1'],
    // What leads elsewhere, or may do something.
    ['../secrets.png', null],
    ['shots/../../secrets.png', null],
    ['/home/me/shop/../other/secrets.png', null],
    ['/home/me/shopping/cart.png', null],
    ['/etc/passwd', null],
    ['//evil.example/cart.png', null],
    ['/home/me/shop', null],
    ['', null],
    ['.', null],
    ['http://other.example/cart.png', null],
    ['https://me:secret@other.example/cart.png', null],
    ['javascript:alert(1)', null],
    ['data:image/png;base64,AAAA', null],
    ['file://evil.example/home/me/shop/a.png', null],
    ['a\nb.png', null],
    ['a\u0000.png', null],
    ['a\ud800.png', null],
    [`${'long/'.repeat(500)}cart.png`, null],
    // A name is a name.
    ['a?b#c.png', 'https://files.example/runs/7/a%3Fb%23c.png'],
    ['%2e%2e/%2e%2e/x.png', 'https://files.example/runs/7/%252e%252e/%252e%252e/x.png'],
    ['@evil.example/x.png', 'https://files.example/runs/7/%40evil.example/x.png'],
    ['<img src=x>.png', 'https://files.example/runs/7/%3Cimg%20src%3Dx%3E.png'],
  ];
  test.each(cases)('of %j', (path, expected) => {
    expect(attachmentUrl(path, PLACE)).toBe(expected);
  });
  test('of a path on Windows does not depend on letters', () => {
    const place = { ...PLACE, root: 'C:\\agent\\Shop' };
    expect(attachmentUrl('c:\\Agent\\shop\\shots\\Cart.png', place)).toBe(
      'https://files.example/runs/7/shots/Cart.png',
    );
    expect(attachmentUrl('D:\\agent\\shop\\cart.png', place)).toBeNull();
  });
  test('of a path is not known without a folder', () => {
    expect(attachmentUrl('shots/cart.png', undefined)).toBeNull();
    expect(attachmentUrl('/home/me/shop/cart.png', { url: PLACE.url })).toBeNull();
    expect(attachmentUrl('https://other.example/cart.png', undefined)).toBe('https://other.example/cart.png');
  });
  test('of any path lies below the folder, or is https and its own', () => {
    const random = randomFrom(1);
    const below = (end: number) => Math.floor(random() * end);
    const pieces = [
      '..',
      '.',
      '/',
      '\\',
      'a',
      '%2e%2e',
      '//',
      'home',
      '/home/me/shop',
      'C:',
      '?',
      '#',
      '@',
      ':',
      'é',
      '\ud800',
    ];
    for (let i = 0; i < 20_000; i++) {
      const path = Array.from({ length: 1 + below(8) }, () => pieces[below(pieces.length)]).join(
        below(2) === 0 ? '' : '/',
      );
      const from = ['/home/me/shop/reports', 'reports', '..', '/', '/home/me', 'C:\\', undefined][below(7)];
      const url = attachmentUrl(path, { ...PLACE, from }, below(2) === 0);
      if (url !== null) expect(new URL(url).href).toStartWith(PLACE.url);
    }
  });
});

test('a folder is https, and has no query', () => {
  expect(attachmentsFolderOf('https://files.example/runs/7')).toBe('https://files.example/runs/7/');
  for (const wrong of ['http://files.example/', 'https://files.example/?sig=1', 'https://a:b@files.example/', 'x', ''])
    expect(attachmentsFolderOf(wrong)).toBeNull();
});

describe('an address of a path that begins where the report is', () => {
  const beside = (path: string, from: string | undefined) => attachmentUrl(path, { ...PLACE, from }, true);
  test('is below the folder of the report', () => {
    expect(beside('1-a b.png', '/home/me/shop/build/allure results')).toBe(
      'https://files.example/runs/7/build/allure%20results/1-a%20b.png',
    );
    expect(beside('1.png', 'build')).toBe('https://files.example/runs/7/build/1.png');
    expect(beside('1.png', undefined)).toBe('https://files.example/runs/7/1.png');
    expect(beside('/home/me/shop/1.png', '/home/me/shop/build')).toBe('https://files.example/runs/7/1.png');
  });
  test('may lead up, as long as it stays within the root', () => {
    expect(beside('../test-results/cart.png', '/home/me/shop/reports')).toBe(
      'https://files.example/runs/7/test-results/cart.png',
    );
    expect(beside('../../cart.png', '/home/me/shop/reports')).toBeNull();
    expect(beside('../../shop/reports/cart.png', '/home/me/shop/reports')).toBe(
      'https://files.example/runs/7/reports/cart.png',
    );
    expect(beside('cart.png', '/tmp/results')).toBeNull();
    expect(beside('../cart.png', '..')).toBeNull();
  });
  test('is what a path means that leads up from where the tests ran', () => {
    const place = { ...PLACE, from: '/home/me/shop/reports/e2e' };
    expect(attachmentUrl('../../cart.png', place)).toBe('https://files.example/runs/7/cart.png');
    expect(attachmentUrl('../../../cart.png', place)).toBeNull();
    expect(attachmentUrl('shots/../cart.png', place)).toBe('https://files.example/runs/7/cart.png');
  });
});

test('the kind follows from type, name and ending', () => {
  const kinds = [
    ['screenshot', 'a.png', 'image/png'],
    ['video', 'v.webm', 'video/webm'],
    ['trace', 'trace.zip', 'application/zip'],
    ['', 'test-results/x/trace.zip', ''],
    ['', 'server.log', ''],
    ['', 'dump.json', 'application/json'],
    ['', 'core.bin', ''],
    ['', 'shot.PNG', ''],
  ].map(([name = '', path = '', type = '']) => attachmentKindOf(name, path, type));
  expect(kinds).toEqual(['screenshot', 'video', 'trace', 'trace', 'log', 'log', 'file', 'screenshot']);
});

test('none take no room, and some are read as they were written', () => {
  expect(attachmentsText([])).toBe('');
  expect(attachmentsOf('')).toEqual([]);
  const one = [{ kind: 'log' as const, name: 'server', url: 'https://files.example/a.log' }];
  expect(attachmentsOf(attachmentsText(one))).toEqual(one);
});

/** Links of each failure of the only test. */
async function linksIn(format: ReportFormat, body: string, attachments: AttachmentsPlace | undefined = PLACE) {
  const upload = await parse(format, body, { attachments });
  const [execution] = executionsOf(upload);
  return {
    links: execution?.failures.map((failure) => failure.attachments?.map(({ kind, name, url }) => [kind, name, url])),
    warnings: upload.warnings,
  };
}
const at = (path: string): string => `${PLACE.url}${path}`;

describe('a report of', () => {
  test('Playwright names the files of each attempt', async () => {
    const attempt = (retry: number, status: string, attachments: object[]) => ({
      retry,
      status,
      duration: 1,
      startTime: '2026-11-21T09:30:00.000Z',
      errors: status === 'failed' ? [{ message: 'Error: no' }] : [],
      attachments,
    });
    const results = [
      attempt(0, 'failed', [
        { name: 'screenshot', contentType: 'image/png', path: '/home/me/shop/test-results/cart/test-failed-1.png' },
        { name: 'stdout', contentType: 'text/plain', body: 'AAAA' },
      ]),
      attempt(1, 'failed', [
        { name: 'trace', contentType: 'application/zip', path: '/home/me/shop/test-results/cart-retry1/trace.zip' },
      ]),
    ];
    const tests = [{ projectName: '', expectedStatus: 'passed', status: 'unexpected', results }];
    const report = { config: {}, suites: [{ title: 'a', specs: [{ title: 't', file: 'a', tests }] }], errors: [] };
    expect(await linksIn(playwright, JSON.stringify(report))).toEqual({
      links: [
        [['screenshot', 'screenshot', at('test-results/cart/test-failed-1.png')]],
        [['trace', 'trace', at('test-results/cart-retry1/trace.zip')]],
      ],
      warnings: [],
    });
  });

  test('CTRF names those of a test and of its attempts', async () => {
    const file = (path: string) => ({ name: 'shot', contentType: 'image/png', path });
    const tests = [
      {
        name: 'pays',
        status: 'failed',
        duration: 1,
        retries: 1,
        retryAttempts: [{ attempt: 1, status: 'failed', message: 'a', attachments: [file('one.png')] }],
        attachments: [file('two.png'), { name: 'elsewhere', contentType: 'image/png', path: '/tmp/three.png' }],
      },
    ];
    expect(await linksIn(ctrf, JSON.stringify({ results: { tool: { name: 'x' }, summary: {}, tests } }))).toEqual({
      links: [[['screenshot', 'shot', at('one.png')]], [['screenshot', 'shot', at('two.png')]]],
      warnings: ['1 attachment cannot be linked: not below the folder whose address `attachments_url` is.'],
    });
  });

  test('Allure names those of its steps, too', async () => {
    const result = {
      uuid: 'u',
      name: 'pays',
      status: 'broken',
      start: 1,
      stop: 2,
      attachments: [{ name: 'log', source: '1-attachment.txt', type: 'text/plain' }],
      steps: [
        { name: 's', steps: [{ attachments: [{ name: 'page', source: '2-attachment.png', type: 'image/png' }] }] },
      ],
    };
    expect((await linksIn(allure, JSON.stringify([result]))).links).toEqual([
      [
        ['log', 'log', at('1-attachment.txt')],
        ['screenshot', 'page', at('2-attachment.png')],
      ],
    ]);
  });

  test('JUnit names them in what a test printed, and in its properties', async () => {
    const report = `<testsuite name="s"><testcase classname="c" name="t">
      <properties><property name="testrail_attachment" value="shots/b.png"/><property name="owner" value="x.png"/></properties>
      <failure message="no"/>
      <system-out>before [[ATTACHMENT|shots/a.png]] [[ATTACHMENT|shots/b.png]] [ [[x]]<![CDATA[ [[ATTACHMENT|/home/me/shop/v.webm]]]]></system-out>
      <system-err>[[ATTACHMENT|e.log]]</system-err></testcase></testsuite>`;
    expect((await linksIn(junit, report)).links).toEqual([
      [
        ['screenshot', '', at('shots/b.png')],
        ['screenshot', '', at('shots/a.png')],
        ['video', '', at('v.webm')],
        ['log', '', at('e.log')],
      ],
    ]);
  });

  test('JUnit of Playwright names them from its own folder, that of others from where the tests ran', async () => {
    const report = (root: string) => `<testsuites ${root}><testsuite name="a.spec.ts" hostname="chromium">
      <testcase name="t" classname="a.spec.ts"><failure message="no"/>
      <system-out>[[ATTACHMENT|a.png]] [[ATTACHMENT|../b.png]] [[ATTACHMENT|../../c.png]]</system-out></testcase></testsuite></testsuites>`;
    const place = { ...PLACE, from: '/home/me/shop/reports' };
    const warnings = ['1 attachment cannot be linked: not below the folder whose address `attachments_url` is.'];
    expect(await linksIn(junit, report('id="" name=""'), place)).toEqual({
      links: [
        [
          ['screenshot', '', at('reports/a.png')],
          ['screenshot', '', at('b.png')],
        ],
      ],
      warnings,
    });
    expect(await linksIn(junit, report(''), place)).toEqual({
      links: [
        [
          ['screenshot', '', at('a.png')],
          ['screenshot', '', at('b.png')],
        ],
      ],
      warnings,
    });
  });

  test.each([allure, trx, robot])('$name names them from its own folder', async (format) => {
    const name = 'shots/a.png';
    const report = {
      allure: JSON.stringify([
        { uuid: 'u', name: 't', status: 'failed', attachments: [{ name: 'a', source: name, type: 'image/png' }] },
      ]),
      trx: `<TestRun><TestSettings><Deployment runDeploymentRoot="run"/></TestSettings><Results>
        <UnitTestResult executionId="e" testId="t1" testName="T" outcome="Failed" relativeResultsDirectory="e">
        <Output><ErrorInfo><Message>no</Message></ErrorInfo></Output><ResultFiles><ResultFile path="shots/a.png"/></ResultFiles>
        </UnitTestResult></Results><TestDefinitions><UnitTest id="t1"><TestMethod className="S" name="T"/></UnitTest></TestDefinitions></TestRun>`,
      robot: `<robot generator="Robot 7.5"><suite name="S"><test name="T"><kw name="k"><msg html="true" level="INFO">&lt;img src="${name}"&gt;</msg></kw>
        <status status="FAIL">no</status></test></suite></robot>`,
    }[format.name];
    const { links } = await linksIn(format, report ?? '', { ...PLACE, from: '/home/me/shop/build' });
    const folder = format === trx ? 'build/run/In/e' : 'build';
    expect(links?.flat()?.map((link) => link?.[2])).toEqual([at(`${folder}/shots/a.png`)]);
  });

  test('Cucumber names external ones', async () => {
    const lines = [
      { meta: { implementation: { name: 'cucumber-js' } } },
      { pickle: { id: 'p', uri: 'a.feature', name: 'pays', astNodeIds: [], steps: [] } },
      { testCase: { id: 'c', pickleId: 'p', testSteps: [] } },
      { testCaseStarted: { id: 's', testCaseId: 'c', attempt: 0 } },
      { externalAttachment: { url: 'https://other.example/page.png', mediaType: 'image/png', testCaseStartedId: 's' } },
      {
        testStepFinished: {
          testCaseStartedId: 's',
          testStepId: 'x',
          testStepResult: { status: 'FAILED', message: 'no' },
        },
      },
      { testCaseFinished: { testCaseStartedId: 's' } },
      { testRunFinished: { success: false } },
    ];
    const report = lines.map((line) => JSON.stringify(line)).join('\n');
    expect(await linksIn(cucumber, report, undefined)).toEqual({
      links: [[['screenshot', '', 'https://other.example/page.png']]],
      warnings: [],
    });
  });

  test('NUnit names them with a description', async () => {
    const report = `<test-run total="1" failed="1"><test-suite name="s"><test-case fullname="S.T" name="T" result="Failed">
      <failure><message>no</message></failure><attachments><attachment><filePath>/home/me/shop/bin/cart.png</filePath>
      <description><![CDATA[the cart]]></description></attachment></attachments></test-case></test-suite></test-run>`;
    expect(await linksIn(nunit, report)).toEqual({
      links: [[['screenshot', 'the cart', at('bin/cart.png')]]],
      warnings: [],
    });
  });

  test('TRX names them within the folder of the run', async () => {
    const report = `<TestRun><TestSettings><Deployment runDeploymentRoot="me_build 1"/></TestSettings><Results>
      <UnitTestResult executionId="e1" testId="t1" testName="T" outcome="Failed" relativeResultsDirectory="e1">
      <Output><ErrorInfo><Message>no</Message></ErrorInfo></Output><ResultFiles><ResultFile path="build\\cart.png"/></ResultFiles>
      </UnitTestResult></Results><TestDefinitions><UnitTest id="t1"><TestMethod className="S" name="T"/></UnitTest></TestDefinitions></TestRun>`;
    expect((await linksIn(trx, report)).links).toEqual([[['screenshot', '', at('me_build%201/In/e1/build/cart.png')]]]);
  });

  test('Robot Framework shows them in messages', async () => {
    const report = `<robot generator="Robot 7.5 (Python 3.14.2 on linux)"><suite name="S"><test name="T"><kw name="k">
      <msg html="true" level="INFO">&lt;a href="shot%201.png"&gt;&lt;img src="shot%201.png" width="800px"&gt;&lt;/a&gt;&lt;img src="data:image/png;base64,AA"&gt;</msg>
      <msg level="INFO">&lt;img src="no.png"&gt;</msg></kw><status status="FAIL">no</status></test></suite></robot>`;
    expect(await linksIn(robot, report)).toEqual({
      links: [[['screenshot', '', at('shot%201.png')]]],
      warnings: [],
    });
  });
});

test('what passed keeps none', async () => {
  const report = `<testsuite><testcase name="t"><system-out>[[ATTACHMENT|a.png]]</system-out></testcase></testsuite>`;
  expect(await linksIn(junit, report)).toEqual({ links: [], warnings: [] });
});

test('an execution keeps the first eight of all its attempts', async () => {
  const files = (attempt: number) =>
    Array.from({ length: 5 }, (_, i) => ({ name: 'n', path: `${attempt}-${i}.png`, contentType: 'image/png' }));
  const attempts = [1, 2].map((attempt) => ({ status: 'failed', message: 'no', attachments: files(attempt) }));
  const tests = [{ name: 't', status: 'failed', retries: 2, retryAttempts: attempts }];
  const { links, warnings } = await linksIn(
    ctrf,
    JSON.stringify({ results: { tool: { name: 'x' }, summary: {}, tests } }),
  );
  expect(links?.flatMap((own) => own ?? [])).toHaveLength(ATTACHMENTS_MAX);
  expect(links?.map((own) => own?.length)).toEqual([5, 3, undefined]);
  expect(warnings).toEqual(['An execution names more than 8 attachments: only the first 8 are kept.']);
});

test('the result is the same with and without an address: a resend stays one', async () => {
  const report = `<testsuite><testcase name="t"><failure/><system-out>[[ATTACHMENT|a.png]]</system-out></testcase></testsuite>`;
  const [without] = executionsOf(await parse(junit, report));
  const [within] = executionsOf(await parse(junit, report, { attachments: PLACE }));
  const { attachments, ...failure } = within?.failures[0] ?? {};
  expect(attachments).toHaveLength(1);
  expect(without?.failures).toEqual([failure as never]);
});
