import { describe, expect, test } from 'bun:test';
import { cucumber } from '../../src/formats/cucumber/format.ts';
import { InvalidUpload } from '../../src/formats/errors.ts';
import { executionsOf, fixtureBytes } from '../support/parsing.ts';
import { executionNamed, keysOf, outcomesOf, parse, parseFixture, refusalOf } from '../support/reports.ts';

describe('messages of Cucumber.js', async () => {
  const reported = await parseFixture(cucumber, 'messages-js-12.ndjson');
  test('each scenario, and each row of an outline, is an execution under its own name', () => {
    expect(outcomesOf(reported)).toEqual({
      'Cart.Adds an item': 'passed',
      'Cart.Sums the total': 'failed',
      'Cart.Pays at the second try': 'flaky',
      'Cart.Ships': 'failed',
      'Cart.Waits for the courier': 'failed',
      'Cart.Is skipped': 'skipped',
      'Cart.Adds many (count=1, expected=1)': 'passed',
      'Cart.Adds many (count=2, expected=3)': 'failed',
      'Cart.Adds many (count=100, expected=100)': 'passed',
      'Cart.Pays with visa': 'passed',
      'Cart.Pays with amex': 'failed',
      'Cart.Gifts are free - Adds an item': 'passed',
      'Courier.Adds an item': 'failed',
      'Courier.Ambiguous': 'failed',
    });
    expect(new Set(keysOf(reported)).size).toBe(14);
    expect(reported).toMatchObject({ warnings: [], rejections: [], isCutShort: false });
    expect(reported.runs[0]?.run).toMatchObject({
      framework: 'cucumber',
      framework_version: '12.9.0',
      language: 'javascript',
    });
  });
  test('attempts are one execution, with the failure of each, and the step that failed', () => {
    expect(executionNamed(reported, 'Cart.Pays at the second try')).toMatchObject({
      isRetried: true,
      filepath: 'features/cart.feature',
      function: 'Pays at the second try',
      durationSeconds: 0.001,
      failures: [
        {
          attempt: 1,
          type: 'TypeError',
          message: 'card is undefined',
          stacktrace:
            'Step: I pay with a flaky card\n\nTypeError: card is undefined\n    at World.<anonymous> (/home/me/shop/features/step_definitions/steps.js:8:70)',
        },
      ],
    });
    const failed = executionNamed(reported, 'Cart.Sums the total').failures;
    expect(failed.map(({ attempt, message }) => [attempt, message])).toEqual([
      [1, '1 == 2'],
      [2, '1 == 2'],
    ]);
  });
  test('a step without an exception says what is wrong with it', () => {
    const messageOf = (name: string) => executionNamed(reported, name).failures[0]?.message;
    expect(messageOf('Cart.Ships')).toMatch(/^The step is undefined: \w+ has defined this step$/);
    expect(messageOf('Cart.Waits for the courier')).toBe('The step is pending: a pending step');
    expect(messageOf('Courier.Ambiguous')).toStartWith('Multiple step definitions match:');
    expect(messageOf('Courier.Adds an item')).toBe('no courier');
  });
  test('a run that accepts pending steps skips the scenario', async () => {
    const text = Buffer.from(await fixtureBytes('cucumber/messages-js-12.ndjson')).toString();
    const accepted = await parse(cucumber, text.replace('"success":false', '"success":true'));
    expect(executionNamed(accepted, 'Cart.Waits for the courier')).toMatchObject({ status: 'skipped', failures: [] });
  });
  test('a run that does not end is cut short, and keeps what has ended', async () => {
    const lines = Buffer.from(await fixtureBytes('cucumber/messages-js-12.ndjson'))
      .toString()
      .split('\n');
    const cut = await parse(cucumber, lines.slice(0, -2).join('\n'));
    expect(executionsOf(cut)).toHaveLength(14);
    expect(cut.warnings).toEqual([
      'The report is cut short: the run does not end. The 14 before it are kept; what followed is lost.',
    ]);
  });
});

describe('the older JSON', () => {
  test('of Cucumber.js numbers the rows of an outline, whose cells it does not tell', async () => {
    const reported = await parseFixture(cucumber, 'json-js-12.json');
    expect(outcomesOf(reported)).toMatchObject({
      'Cart.Adds many #1': 'passed',
      'Cart.Adds many #2': 'failed',
      'Cart.Adds many #3': 'passed',
      'Cart.Pays with amex': 'failed',
      'Cart.Pays at the second try': 'passed',
      'Courier.Adds an item': 'failed',
    });
    expect(executionsOf(reported)).toHaveLength(14);
    expect(executionNamed(reported, 'Cart.Pays with amex')).toMatchObject({
      filepath: 'features/cart.feature',
      durationSeconds: expect.closeTo(0.00106, 5),
      failures: [{ type: 'Error', message: 'amex is refused' }],
    });
  });
  test('of behave has seconds, and scenarios that did not run', async () => {
    const reported = await parseFixture(cucumber, 'behave-1.3.json');
    expect(outcomesOf(reported)).toEqual({
      'Cart.Adds an item': 'passed',
      'Cart.Fails': 'failed',
      'Cart.Adds many -- @1.1 small': 'passed',
      'Cart.Adds many -- @1.2 small': 'failed',
      'Cart.Undefined': 'failed',
      'Cart.Skipped': 'skipped',
    });
    expect(executionNamed(reported, 'Cart.Fails')).toMatchObject({
      durationSeconds: expect.closeTo(0.0198, 4),
      filepath: 'features/cart.feature',
    });
  });
  test('keeps no scenario of a feature that is cut short: a row may be missing that numbers the others', async () => {
    const text = Buffer.from(await fixtureBytes('cucumber/json-js-12.json')).toString();
    const cut = await parse(cucumber, text.slice(0, text.indexOf('"name": "Courier"')));
    expect(executionsOf(cut)).toHaveLength(12);
    expect(cut.isCutShort).toBe(true);
  });
});

describe('what is no report of Cucumber', () => {
  test.each(['', 'nonsense', '{"suites":[]}', '[{"a":1}]', '[1,2]', '{"Action":"run"}\n'])('%s', async (body) => {
    const refusal = await refusalOf(cucumber, body);
    expect(refusal).toBeInstanceOf(InvalidUpload);
    expect(String(refusal)).toContain('The body is not a Cucumber report: it ');
  });
  test('is left out of a folder', async () => {
    const isOther = (text: string) => cucumber.isOther(Buffer.from(text));
    for (const file of ['messages-js-12.ndjson', 'json-js-12.json', 'behave-1.3.json'])
      expect(await cucumber.isOther(await fixtureBytes(`cucumber/${file}`))).toBe(false);
    expect(await isOther('{"name":"shop","version":"1.0.0"}')).toBe(true);
    expect(await isOther('{"meta":1,"results":[]}')).toBe(true);
    expect(await isOther('{"attachment":{"body":"a"}}\n{"pickle":{}}\n')).toBe(false);
    expect(await isOther('{"pickle":{"id":')).toBe(false);
  });
});

test('durations that add up to more than a number holds are a number still', async () => {
  const step = { keyword: 'Given ', name: 'a cart', result: { status: 'passed', duration: 1.7e308 } };
  const elements = [{ keyword: 'Scenario', type: 'scenario', name: 'sums', steps: [step, step] }];
  // behave writes seconds, and a line after the name of the file.
  const body = [{ keyword: 'Feature', name: 'Cart', location: 'features/cart.feature:1', status: 'passed', elements }];
  const [execution] = executionsOf(await parse(cucumber, JSON.stringify(body)));
  expect(execution?.durationSeconds).toBe(Number.MAX_VALUE);
});
