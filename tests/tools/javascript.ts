/** Tools in JavaScript. Their projects lie below a folder with the packages. */
import type { Tool } from './tool.ts';

/** @param retrying begins a test that its runner runs again twice */
const testsWith = (imports: string, retrying: string, rows = ''): string => `${imports}
let paid = 0;
describe('cart', () => {
  it('works', () => {});
  ${retrying}('pays', () => { if (++paid < 2) throw new Error('no courier'); });
  ${retrying}('ships', () => { throw new Error('never'); });
  it('same', () => {});
  it('same', () => { throw new Error('another'); });
  it.skip('later', () => {});
${rows}});
`;
const ROWS = "  it.each([1, 2])('row %d', (n) => { if (n === 2) throw new Error('two'); });\n";
const NAMESAKES = (imports: string): string =>
  `${imports}\ndescribe('cart', () => { it('works', () => { throw new Error('other'); }); });\n`;
const BROKEN = "import './no-such-file.js';\ntest('never', () => {});\n";

export const jest: Tool = {
  name: 'Jest',
  version: '30.5.2, jest-junit 17.0.0, jest-ctrf-json-reporter 0.0.11',
  from: 'npm',
  files: {
    'a.test.js': `jest.retryTimes(2);\n${testsWith('', 'it', ROWS)}`,
    'b.test.js': NAMESAKES(''),
    'c.test.js': "require('./no-such-file.js');\ntest('never', () => {});\n",
    'd.test.js':
      "beforeAll(() => { throw new Error('no database'); });\ntest('needs it', () => {});\ntest.todo('is to be done');\n",
    'package.json': '{"jest":{"reporters":["jest-junit"]}}',
  },
  reports: [
    {
      fixture: 'junit/jest-30.xml',
      by: 'jest-junit 17.0.0',
      command: ['jest', '--ci', '--runInBand'],
      file: 'junit.xml',
    },
    {
      fixture: 'junit/jest-30-suite-errors.xml',
      by: 'jest-junit 17.0.0',
      command: ['env', 'JEST_JUNIT_REPORT_TEST_SUITE_ERRORS=true', 'jest', '--ci', '--runInBand'],
      file: 'junit.xml',
    },
    {
      fixture: 'ctrf/jest-30-shop.json',
      by: 'jest-ctrf-json-reporter 0.0.11',
      command: ['jest', '--ci', '--runInBand', '--reporters', 'jest-ctrf-json-reporter'],
      file: 'ctrf/ctrf-report.json',
    },
  ],
};

export const vitest: Tool = {
  name: 'Vitest',
  version: '4.1.10, @d2t/vitest-ctrf-json-reporter 1.3.0, allure-vitest 3.12.2',
  from: 'npm',
  files: {
    'a.test.js': testsWith(
      "import { describe, it as own } from 'vitest';\nconst it = own;\nconst again = (name, run) => own(name, { retry: 2 }, run);",
      'again',
      ROWS,
    ),
    'b.test.js': NAMESAKES("import { describe, it } from 'vitest';"),
    'c.test.js': `import { test } from 'vitest';\n${BROKEN}`,
    'd.test.js':
      "import { beforeAll, test } from 'vitest';\nbeforeAll(() => { throw new Error('no database'); });\ntest('needs it', () => {});\ntest.todo('is to be done');\n",
  },
  reports: [
    {
      fixture: 'junit/vitest-4.xml',
      command: ['vitest', 'run', '--reporter=junit', '--outputFile=report.xml', '--no-file-parallelism'],
      file: 'report.xml',
    },
    {
      fixture: 'ctrf/vitest-4.json',
      by: '@d2t/vitest-ctrf-json-reporter 1.3.0',
      command: ['vitest', 'run', '--reporter=@d2t/vitest-ctrf-json-reporter', '--no-file-parallelism'],
      file: 'ctrf/ctrf-report.json',
    },
    {
      fixture: 'allure/allure-vitest-3.12.json',
      by: 'allure-vitest 3.12.2',
      command: ['vitest', 'run', '--reporter=allure-vitest/reporter', '--no-file-parallelism'],
      file: 'allure-results',
    },
  ],
};

const MOCHA = testsWith(
  'const again = (name, run) => it(name, run).retries(2);',
  'again',
  "  for (const n of [1, 2]) it('row ' + n, () => { if (n === 2) throw new Error('two'); });\n",
);

export const mocha: Tool = {
  name: 'Mocha',
  version: '12.0.3; 11.8.0 with mocha-junit-reporter 2.2.1',
  from: 'npm',
  files: {
    'test/a.cjs': MOCHA,
    'test/b.cjs': NAMESAKES(''),
    'test/d.cjs':
      "describe('stopped', () => { before(() => { throw new Error('no database'); }); it('needs it', () => {}); });\n",
  },
  reports: [
    {
      fixture: 'junit/mocha-12-xunit.xml',
      command: [
        ...['node', '../node_modules/mocha-12/bin/mocha.js', '--extension', 'cjs'],
        ...['--reporter', 'xunit', '--reporter-option', 'output=report.xml'],
      ],
      file: 'report.xml',
    },
    {
      fixture: 'junit/mocha-11-junit-reporter.xml',
      by: 'mocha-junit-reporter 2.2.1',
      command: [...['mocha', '--extension', 'cjs', '--reporter', 'mocha-junit-reporter']],
      file: 'test-results.xml',
    },
  ],
};

const NODE = `import { describe, it, test } from 'node:test';
import assert from 'node:assert';
describe('cart', () => {
  describe('totals', () => {
    it('works', () => {});
    it('splits the bill', { todo: true }, () => assert.fail('not yet'));
  });
  it('adds', () => {});
  it('later', { skip: 'no' }, () => {});
  it('same', () => {});
  it('same', () => assert.fail('another'));
  for (const n of [1, 2]) it('row ' + n, () => assert.equal(n, 1));
});
describe('courier', () => { describe('totals', () => it('works', () => assert.fail('no courier'))); });
test('has steps', async (t) => {
  await t.test('first', () => {});
  await t.test('second', () => assert.fail('no'));
});
test('works', () => {});
`;

export const node: Tool = {
  name: 'node:test',
  version: 'Node 24.21.0',
  from: 'npm',
  files: {
    'a.test.mjs': NODE,
    'b.test.mjs': "import test from 'node:test';\ntest('works', () => { throw new Error('broken'); });\n",
    'c.test.mjs':
      "import test from 'node:test';\ntest('before', () => {});\ntest('ends', () => process.exit(7));\ntest('after', () => {});\n",
    'd.test.mjs': "import './no-such-file.js';\n",
  },
  reports: [
    {
      fixture: 'junit/node-24.xml',
      command: [
        'node',
        '--test',
        '--test-concurrency=1',
        '--test-reporter=junit',
        'a.test.mjs',
        'b.test.mjs',
        'c.test.mjs',
        'd.test.mjs',
      ],
    },
    {
      fixture: 'tap/node-24.tap',
      command: [
        'node',
        '--test',
        '--test-concurrency=1',
        '--test-reporter=tap',
        'a.test.mjs',
        'b.test.mjs',
        'd.test.mjs',
      ],
    },
  ],
};

const PLAYWRIGHT = `import { writeFileSync } from 'node:fs';
import { test, expect } from '@playwright/test';
test.describe('Cart', () => {
  test('works', ({}, info) => { expect(info.project.name).toBe('chromium'); });
  test('pays', ({}, info) => { expect(info.retry).toBe(1); });
  test('ships', async ({}, info) => {
    writeFileSync('cart.png', '');
    await info.attach('cart', { path: 'cart.png', contentType: 'image/png' });
    expect(1).toBe(2);
  });
  test.skip('later', () => {});
  test.fail('known', () => { expect(1).toBe(2); });
  for (const n of [1, 2]) test('row ' + n, () => { expect(n).toBe(1); });
});
`;

export const playwright: Tool = {
  name: 'Playwright',
  version: '1.65.1, playwright-ctrf-json-reporter 0.0.29, allure-playwright 3.12.2',
  from: 'npm',
  files: {
    'cart.spec.ts': PLAYWRIGHT,
    'other.spec.ts': "import { test } from '@playwright/test';\ntest('works', () => { throw new Error('other'); });\n",
    'crash.spec.ts':
      "import { test } from '@playwright/test';\ntest('ends', () => process.exit(7));\ntest('after', () => {});\n",
    // Playwright looks for the results of tests beside it.
    'package.json': '{}',
    'playwright.config.ts':
      "export default { retries: 1, workers: 1, projects: [{ name: 'chromium' }, { name: 'webkit', testMatch: 'cart.spec.ts', grep: /works|pays/ }], reporter: [['junit', { outputFile: 'reports/junit.xml' }], ['json', { outputFile: 'report.json' }], ['playwright-ctrf-json-reporter', {}], ['allure-playwright', {}]] };\n",
  },
  reports: [
    {
      fixture: 'junit/playwright-1.65.xml',
      command: ['playwright', 'test'],
      file: 'reports/junit.xml',
    },
    {
      fixture: 'playwright/retries-and-crash.json',
      file: 'report.json',
    },
    { fixture: 'ctrf/playwright-1.65.json', by: 'playwright-ctrf-json-reporter 0.0.29', file: 'ctrf/ctrf-report.json' },
    { fixture: 'allure/allure-playwright-3.12.json', by: 'allure-playwright 3.12.2', file: 'allure-results' },
  ],
};

export const bun: Tool = {
  name: 'Bun',
  version: '1.4.5',
  from: 'bun',
  files: {
    'a.test.js': testsWith(
      "import { describe, it } from 'bun:test';\nconst again = (name, run) => it(name, run, { retry: 2 });",
      'again',
      ROWS,
    ),
    'b.test.js': NAMESAKES("import { describe, it } from 'bun:test';"),
    'c.test.js': `import { test } from 'bun:test';\n${BROKEN}`,
    'd.test.js':
      "import { beforeAll, describe, test } from 'bun:test';\ndescribe('stopped', () => { beforeAll(() => { throw new Error('no database'); }); test('needs it', () => {}); test.todo('is to be done'); });\n",
  },
  reports: [
    {
      fixture: 'junit/bun-1.4-retries.xml',
      command: ['bun', 'test', '--reporter=junit', '--reporter-outfile=report.xml'],
      file: 'report.xml',
    },
  ],
};

const FEATURE = `Feature: Cart
  Scenario: works
    Given a cart of 1
  Scenario: pays
    Given a cart that is full the second time
  Scenario: ships
    Given a cart of 2
  Scenario: undefined one
    Given nothing like that
  @skip
  Scenario: later
    Given a skipped cart
  Scenario Outline: rounds
    Given a cart of <count>
    Examples:
      | count |
      | 1     |
      | 2     |
  Rule: Gifts are free
    Scenario: works
      Given a pending cart
`;
const STEPS = `const { Given } = require('@cucumber/cucumber');
let filled = 0;
Given('a cart of {int}', (count) => { if (count === 2) throw new Error('two'); });
Given('a cart that is full the second time', () => { if (++filled < 2) throw new Error('empty'); });
Given('a skipped cart', () => 'skipped');
Given('a pending cart', () => 'pending');
`;
const CUCUMBER = ['cucumber-js', '--retry', '1', '--require', 'steps.cjs'];

export const cucumber: Tool = {
  name: 'Cucumber.js',
  version: '13.3.0',
  from: 'npm',
  files: { 'features/cart.feature': FEATURE, 'steps.cjs': STEPS },
  reports: [
    {
      fixture: 'cucumber/messages-js-13.ndjson',
      command: [
        ...CUCUMBER,
        '--format',
        'message:report.ndjson',
        '--format',
        'json:report.json',
        '--format',
        'junit:report.xml',
      ],
      file: 'report.ndjson',
    },
    { fixture: 'cucumber/json-js-13.json', file: 'report.json' },
    { fixture: 'junit/cucumber-js-13.xml', file: 'report.xml' },
  ],
};

export const tape: Tool = {
  name: 'tape',
  version: '5.10.2',
  from: 'npm',
  files: {
    'cart.cjs': `const test = require('tape');
test('cart', (t) => { t.ok(true, 'works'); t.equal(1, 2, 'ships'); t.end(); });
test.skip('later', (t) => t.end());
test('todo', { todo: true }, (t) => { t.fail('not yet'); t.end(); });
test('same', (t) => { t.pass('one'); t.pass('one'); t.end(); });
test('throws', () => { throw new Error('no courier'); });
`,
  },
  reports: [{ fixture: 'tap/tape-5-shop.tap', command: ['node', 'cart.cjs'] }],
};

export const bats: Tool = {
  name: 'bats',
  version: '1.13.0',
  from: 'npm',
  files: {
    'cart.bats': `@test "works" { true; }
@test "ships" { echo "no courier"; false; }
@test "later" { skip "not yet"; }
@test "adds 10% # tax" { true; }
`,
  },
  reports: [
    { fixture: 'tap/bats-1.13.tap', command: ['bats', '--formatter', 'tap', 'cart.bats'] },
    { fixture: 'tap/bats-1.13-tap13.tap', command: ['bats', '--formatter', 'tap13', '--timing', 'cart.bats'] },
    { fixture: 'junit/bats-1.13.xml', command: ['bats', '--formatter', 'junit', 'cart.bats'] },
  ],
};
