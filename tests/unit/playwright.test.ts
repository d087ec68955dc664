import { describe, expect, test } from 'bun:test';
import { InvalidUpload, UploadTooLarge } from '../../src/formats/errors.ts';
import { playwright } from '../../src/formats/playwright/format.ts';
import { executionsOf, fixtureBytes } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

const OUTCOMES = 'outcomes.spec.ts ›';
const reported = await parseFixture(playwright, 'two-projects.json');

describe('a report that Playwright wrote about two projects', () => {
  test('every test of every project is an execution, with the outcome that Playwright gives it', () => {
    const cart = (project: string) => ({
      [`[${project}] › cart.spec.ts › Cart › adds an item`]: 'passed',
      [`[${project}] › cart.spec.ts › Cart › is emptied`]: 'skipped',
      [`[${project}] › cart.spec.ts › Cart › survives a restart`]: 'skipped',
      [`[${project}] › cart.spec.ts › Cart › totals › sums [a, b] with 10% tax`]: 'failed',
      [`[${project}] › cart.spec.ts › Cart › totals › rounds "half" up`]: 'flaky',
    });
    expect(outcomesOf(reported)).toEqual({
      ...cart('desktop'),
      ...cart('mobile'),
      '[desktop] › checkout/setup.spec.ts › with a server › pays': 'failed',
      '[desktop] › checkout/setup.spec.ts › with a server › refunds': 'skipped',
      [`[desktop] › ${OUTCOMES} known bug`]: 'passed',
      [`[desktop] › ${OUTCOMES} known bug that was fixed`]: 'failed',
      [`[desktop] › ${OUTCOMES} soft assertions`]: 'failed',
      [`[desktop] › ${OUTCOMES} hangs`]: 'failed',
      [`[desktop] › ${OUTCOMES} throws no error`]: 'failed',
      [`[desktop] › ${OUTCOMES} has a cause`]: 'failed',
      [`[desktop] › ${OUTCOMES} prints and attaches`]: 'passed',
    });
    expect(reported.rejections).toEqual([]);
    expect(reported.warnings).toEqual([]);
  });
  test('the runner, its version and its language are known', () => {
    expect(reported.runs[0]?.run).toMatchObject({
      framework: 'playwright',
      framework_version: '1.65.1',
      language: 'javascript',
    });
  });
  test('a flaky test has the failure of its first attempt, and the time of its last', () => {
    expect(executionNamed(reported, '[desktop] › cart.spec.ts › Cart › totals › rounds "half" up')).toMatchObject({
      status: 'passed',
      isFlaky: true,
      isRetried: true,
      durationSeconds: 0.007,
      finishedAtMs: Date.parse('2026-11-21T18:58:04.731Z'),
      filepath: 'cart.spec.ts',
      function: 'rounds "half" up',
      failures: [
        {
          attempt: 1,
          type: 'TypeError',
          message: 'cents is undefined',
          stacktrace: expect.stringContaining('at /home/me/shop/tests/cart.spec.ts:14:39'),
        },
      ],
    });
  });
  test('a failed test has a failure for each attempt, without the colours of a terminal', () => {
    const { failures } = executionNamed(reported, '[mobile] › cart.spec.ts › Cart › totals › sums [a, b] with 10% tax');
    expect(failures.map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(failures[1]).toMatchObject({
      type: 'Error',
      message: 'expect(received).toBe(expected) // Object.is equality\n\nExpected: 3\nReceived: 2',
    });
    expect(failures[1]?.stacktrace).toContain('> 10 |       expect(1 + 1).toBe(3);');
  });
  test.each([
    ['known bug that was fixed', { type: null, message: 'Expected to fail, but passed.' }],
    ['hangs', { type: 'TimeoutError', message: 'Test timeout of 1000ms exceeded.' }],
    ['throws no error', { type: null, message: "'a string'" }],
    ['has a cause', { type: 'RangeError', stacktrace: expect.stringContaining('[cause]: Error: inner') }],
    ['soft assertions', { type: 'Error', stacktrace: expect.stringMatching(/Expected: 2.*Expected: "b"/s) }],
  ])('the failure of: %s is described', (title, failure) => {
    expect(executionNamed(reported, `[desktop] › ${OUTCOMES} ${title}`).failures[0]).toMatchObject(failure);
  });
  test('setup that fails is a failure of the first test; the others were skipped', () => {
    const { failures } = executionNamed(reported, '[desktop] › checkout/setup.spec.ts › with a server › pays');
    expect(failures[0]).toMatchObject({ type: 'Error', message: 'connect ECONNREFUSED 127.0.0.1:5432' });
  });
});

describe('reports of other runs', () => {
  test('the shards of a run do not collide, even under one report name', async () => {
    const [first, second] = [
      await parseFixture(playwright, 'shard-1-of-2.json'),
      await parseFixture(playwright, 'shard-2-of-2.json'),
    ];
    const keys = [...keysOf(first), ...keysOf(second)];
    expect(keys).toHaveLength(10);
    expect(new Set(keys).size).toBe(10);
  });
  test('the same report again has the same keys', async () => {
    expect(keysOf(await parseFixture(playwright, 'two-projects.json'))).toEqual(keysOf(reported));
  });
  test('repeated tests are separate executions, and what was interrupted or never began is skipped', async () => {
    const upload = await parseFixture(playwright, 'stopped-early.json');
    const executions = executionsOf(upload);
    expect(executions).toHaveLength(10);
    expect(new Set(keysOf(upload)).size).toBe(10);
    expect(executions.map(({ status }) => status).sort()).toEqual([
      'failed',
      'passed',
      'passed',
      ...Array.from({ length: 7 }, () => 'skipped' as const),
    ]);
    expect(upload.warnings).toEqual([
      'Playwright reports an error outside of tests: Testing stopped early after 1 maximum allowed failures.',
    ]);
  });
  test('a project without a name is not part of a test name', async () => {
    const upload = await parseFixture(playwright, 'stopped-early.json');
    expect(executionsOf(upload)[0]?.name).toBe('cart.spec.ts › Cart › adds an item');
  });
  test('files that cannot be loaded are a warning', async () => {
    const upload = await parseFixture(playwright, 'load-error.json');
    expect(executionsOf(upload)).toEqual([]);
    expect(upload.warnings).toEqual([
      "Playwright reports an error outside of tests: Error: Cannot find module './missing'",
      'Playwright reports an error outside of tests: Error: No tests found',
    ]);
  });
});

describe('however the report came into its file', () => {
  test('as UTF-16, with a byte order mark, or below what npm and the configuration print, it is the same', async () => {
    const text = Buffer.from(await fixtureBytes('playwright/two-projects.json')).toString();
    const bodies = [
      Buffer.from(`\ufeff${text}`, 'utf16le'),
      Buffer.from(`\ufeff${text}`, 'utf16le').swap16(),
      Buffer.from(`\ufeff${text}`),
      Buffer.from(`\n> shop@1.0.0 test\n> playwright test\n\n[dotenv] {injected}\n${text}\nnpm notice\n`),
    ];
    for (const body of bodies) expect(await parse(playwright, body)).toEqual(reported);
  });
  test('its times are shifted to where the tests began', async () => {
    const body = await fixtureBytes('playwright/two-projects.json');
    const startedAtMs = Date.parse('2030-01-01T00:00:00Z');
    const shifted = executionsOf(await parse(playwright, body, { startedAtMs }));
    const times = executionsOf(reported).map(({ finishedAtMs }) => finishedAtMs ?? 0);
    const shiftMs = (shifted[0]?.finishedAtMs ?? 0) - (times[0] ?? 0);
    expect(shifted.map(({ finishedAtMs }) => finishedAtMs)).toEqual(times.map((time) => time + shiftMs));
    expect(Math.min(...shifted.map(({ finishedAtMs }) => finishedAtMs ?? 0)) - startedAtMs).toBeWithin(0, 1_000);
  });
});

test('lines of JSON before the report do not hide it, on one line or several, nor does a report on one line', async () => {
  const text = Buffer.from(await fixtureBytes('playwright/two-projects.json')).toString();
  const log = '{"level":30,"errors":["no"],"msg":"up"}\n';
  const bodies = [
    log + text,
    `${log}starting\n${log}${text}`,
    `{\n  "level": 30\n}\n${text}`,
    `{not json\n${log}${text}\n${log}`,
    `\r\n${log}${JSON.stringify(JSON.parse(text))}\n`,
  ];
  for (const body of bodies) expect(await parse(playwright, body)).toEqual(reported);
});

describe('a test with more than fits', () => {
  const errors = Array.from({ length: 150 }, (_, i) => ({ message: `Error: row ${i}` }));
  test('keeps as many of its errors as fit', async () => {
    const failed = { status: 'failed', error: errors[0], errors };
    const upload = await parse(
      playwright,
      specOf({ title: 't', tests: [testOf({ status: 'unexpected', results: [failed] })] }),
    );
    expect(upload.rejections).toEqual([]);
    const [failure] = executionsOf(upload)[0]?.failures ?? [];
    expect(failure?.stacktrace?.split('\n\n')).toHaveLength(100);
  });
  test('keeps its last attempt, which decides', async () => {
    const attempts = [
      ...errors.map((error) => ({ status: 'failed', error, duration: 5 })),
      { status: 'passed', duration: 7 },
    ];
    const upload = await parse(
      playwright,
      specOf({ title: 't', tests: [testOf({ status: 'flaky', results: attempts })] }),
    );
    expect(executionsOf(upload)[0]).toMatchObject({ status: 'passed', isFlaky: true, durationSeconds: 0.007 });
  });
});

const specOf = (spec: object): string => JSON.stringify({ suites: [{ title: 'a.spec.ts', specs: [spec] }] });
const testOf = (about: object): object => ({ status: 'expected', results: [], ...about });

describe('reports that break off keep their whole tests and say where', () => {
  test.each([
    ['within a test', '{"suites":[\n{"title":"a","specs":[{"title":"b","tests":[', 'is cut short at line 2'],
    ['after the configuration', '{"config":{"version":"1.2.3"},"suites":[', 'is cut short at line 1'],
    ['in a string', '{"suites":[],"errors":["a', 'is cut short at line 1'],
    ['by a missing comma', '{"suites":[]\n"errors":[]}', 'is not well-formed JSON at line 2'],
    ['by bare words', '{"suites":[{"title":oops}]}', 'is not well-formed JSON at line 1'],
    ['by a key that is not a string', '{"suites":[],1:2}', 'is not well-formed JSON at line 1'],
    ['within a test that is not JSON', '{"suites":[{"specs":[{"title":01}]}]}', 'is not well-formed JSON at line 1'],
  ])('%s', async (_, body, how) => {
    const { warnings } = await parse(playwright, body);
    expect(warnings).toEqual([`The report ${how}. No test before it was whole; what followed is lost.`]);
  });
  test('after some tests', async () => {
    const text = Buffer.from(await fixtureBytes('playwright/two-projects.json')).toString();
    const cut = await parse(playwright, text.slice(0, text.indexOf('"known bug"')));
    const kept = executionsOf(cut);
    expect(kept).toHaveLength(12);
    expect(executionsOf(reported)).toEqual(expect.arrayContaining(kept));
    expect(cut.warnings[0]).toMatch(/^The report is cut short at line \d+. The 12 before it are kept; what followed/);
  });
});

describe('what is not a Playwright report is refused with a sentence', () => {
  test.each([
    ['empty', '', 'it is cut short at line 1'],
    ['text', 'hello', 'it is not well-formed JSON at line 1'],
    ['XML', '<testsuites/>', 'it is not well-formed JSON at line 1'],
    ['an array', '[]', 'it has no suites'],
    ['another object', '{"numFailedTests":0,"testResults":[]}', 'it has no suites'],
    ['suites that are not a list', '{"suites":{"specs":[]}}', 'it has no suites'],
    ['only the beginning', '{"config":{', 'it is cut short at line 1'],
  ])('%s', async (_, body, why) => {
    const error = await refusalOf(playwright, body);
    expect(error).toBeInstanceOf(InvalidUpload);
    expect(String(error)).toContain(`The body is not a Playwright JSON report: ${why}.`);
  });
});

describe('hostile reports', () => {
  test('deep nesting is refused, in what is read and in what is skipped', async () => {
    for (const body of [
      `{"suites":${'[{"suites":'.repeat(1_000_000)}`,
      `{"config":{"x":${'['.repeat(1_000_000)}`,
      `{"suites":[{"specs":[{"title":${'['.repeat(1_000_000)}`,
    ])
      expect(String(await refusalOf(playwright, body))).toContain('nests values more than 100 deep');
  });
  test('a test that is too large is refused alone', async () => {
    const huge = JSON.stringify({ title: 'huge', tests: [testOf({ attachment: 'x'.repeat(17 << 20) })] });
    const small = JSON.stringify({ title: 'small', tests: [testOf({})] });
    const upload = await parse(playwright, `{"suites":[{"title":"a","specs":[${huge},${small}]}]}`);
    expect(outcomesOf(upload)).toEqual({ 'a › small': 'passed' });
    expect(upload.rejections).toMatchObject([{ reason: expect.stringContaining('larger than 16 MiB'), count: 1 }]);
  });
  test('millions of small values in one test are refused before they are parsed', async () => {
    const upload = await parse(
      playwright,
      `{"suites":[{"specs":[{"title":"a","tests":[${'{},'.repeat(2_000_000)}{}]}]}]}`,
    );
    expect(upload.rejections).toMatchObject([{ count: 1 }]);
  });
  test('more tests than an upload may hold are refused whole, also where they cannot be read', async () => {
    const many = (item: object) => specOf({ title: 't', tests: Array.from({ length: 11 }, () => item) });
    for (const body of [many(testOf({})), many({})])
      await expect(parse(playwright, body, { executionsMax: 10 })).rejects.toThrow(UploadTooLarge);
  });
  test.each([
    ['no status', { results: [] }],
    ['a status that does not exist', testOf({ status: 'great' })],
    ['results that are not a list', testOf({ results: 'none' })],
    ['a duration in words', testOf({ results: [{ duration: 'long' }] })],
    ['an error that is not an object', testOf({ results: [{ error: 7 }] })],
    ['null', null],
  ])('a test with %s is refused alone, with its reason', async (_, wrong) => {
    const upload = await parse(playwright, specOf({ title: 'works', tests: [wrong, testOf({})] }));
    expect(outcomesOf(upload)).toEqual({ 'a.spec.ts › works': 'passed' });
    expect(upload.rejections).toEqual([
      { reason: 'the test is not described as Playwright does it', count: 1, examples: ['works'] },
    ]);
  });
  test.each([
    ['a spec without a title', { tests: [] }, []],
    ['a spec whose tests are not a list', { title: 'named', tests: {} }, ['named']],
    ['a spec that is a number', 7, []],
  ])('%s is refused alone', async (_, spec, examples) => {
    const upload = await parse(playwright, `{"suites":[{"specs":[${JSON.stringify(spec)}]}]}`);
    expect(upload.rejections).toMatchObject([{ count: 1, examples }]);
  });
  test('NUL and half a surrogate pair in a name refuse that test; elsewhere they are replaced', async () => {
    for (const title of ['a\\u0000', 'a\\ud800']) {
      const spec = `{"title":"${title}","tests":[{"status":"expected","results":[]}]}`;
      const { rejections } = await parse(playwright, `{"suites":[{"specs":[${spec}]}]}`);
      expect(rejections).toMatchObject([
        { reason: expect.stringMatching(/^the test name holds (?:a NUL|half)/), count: 1 },
      ]);
    }
    const failed = { status: 'failed', error: { message: 'a\0b\ud800' } };
    const upload = await parse(
      playwright,
      specOf({ title: 't', tests: [testOf({ status: 'unexpected', results: [failed] })] }),
    );
    expect(executionsOf(upload)[0]?.failures[0]?.message).toBe('a\uFFFDb\uFFFD');
  });
  test('a message of megabytes is cut', async () => {
    const failed = { status: 'failed', error: { message: 'x'.repeat(3 << 20) } };
    const upload = await parse(
      playwright,
      specOf({ title: 't', tests: [testOf({ status: 'unexpected', results: [failed] })] }),
    );
    expect(executionsOf(upload)[0]?.failures[0]?.message).toEndWith(`… [cut, ${3 << 20} bytes in all]`);
  });
  test('tests of the same name are told apart', async () => {
    const upload = await parse(playwright, specOf({ title: 't', tests: [testOf({}), testOf({}), testOf({})] }));
    expect(new Set(keysOf(upload)).size).toBe(3);
  });
});
