/** From a report that a tool wrote to the command for a test in it: every format that a runner's results come in. */
import { expect, test } from 'bun:test';
import { reproduceCommand } from '../../src/domain/reproduce-command.ts';
import { FORMATS } from '../../src/formats/formats.ts';
import type { ParsedUpload } from '../../src/formats/upload.ts';
import { fixtureBytes, parseXml } from '../support/parsing.ts';
import { parse } from '../support/reports.ts';

const CART_IN_CHROMIUM = `npx playwright test 'cart\\.spec\\.ts' --project=chromium '--grep=Cart (› )?works( @|$)'`;

/** A report of tests/fixtures, a test in it, and its command. */
const COMMANDS: readonly [fixture: string, name: string, command: string | null][] = [
  ['junit/pytest-9.2.xml', 'test_cart.TestCart.test_adds', 'pytest test_cart.py::TestCart::test_adds'],
  ['junit/pytest-9.2-crash.xml', 'crash.test_import', 'pytest crash/test_import.py'],
  ['ctrf/pytest-9.2.json', 'test_cart.py::TestCart::test_adds', 'pytest test_cart.py::TestCart::test_adds'],
  ['allure/allure-pytest-2.16.json', 'test_cart.TestCart#test_adds', 'pytest test_cart.py::TestCart::test_adds'],
  [
    'allure/allure-pytest-2.16.json',
    `test_cart.TestCart#test_rows[price=1, name='a']`,
    `pytest 'test_cart.py::TestCart::test_rows[1-a]'`,
  ],
  ['allure/allure-pytest-2.16.json', 'test_cart.TestCart#test_title', 'pytest test_cart.py::TestCart::test_title'],
  ['junit/unittest-4.0.xml', 'test_shop.CartTest.test_works', 'python -m unittest test_shop.CartTest.test_works'],
  ['junit/unittest-4.0.xml', 'test_shop.CartTest.test_rows (i=1)', 'python -m unittest test_shop.CartTest.test_rows'],
  ['junit/unittest-4.0.xml', 'setUpClass (test_shop.CourierTest)', null],
  ['junit/jest-30.xml', 'cart works.cart works', `npx jest '--testNamePattern=cart works$'`],
  ['junit/jest-30-suite-errors.xml', 'Test suite failed to run.c.test.js', 'npx jest --runTestsByPath c.test.js'],
  ['ctrf/jest-30-shop.json', 'a.test.js › cart works', `npx jest '/a\\.test\\.js$' '--testNamePattern=cart works$'`],
  ['junit/vitest-4.xml', 'a.test.js.cart > works', `npx vitest run a.test.js '--testNamePattern=cart (> )?works$'`],
  ['junit/vitest-4.xml', 'd.test.js.d.test.js', 'npx vitest run d.test.js'],
  ['ctrf/vitest-4.json', 'cart > row 1', `npx vitest run a.test.js '--testNamePattern=cart (> )?row 1$'`],
  [
    'allure/allure-vitest-3.12.json',
    'clients:shop/a.test.js#cart works',
    `npx vitest run shop/a.test.js '--testNamePattern=cart works$'`,
  ],
  ['playwright/retries-and-crash.json', '[chromium] › cart.spec.ts › Cart › works', CART_IN_CHROMIUM],
  ['junit/playwright-1.65.xml', '[chromium] › cart.spec.ts › Cart › works', CART_IN_CHROMIUM],
  [
    'junit/playwright-1.65.xml',
    'cart.spec.ts.Cart › row 1',
    `npx playwright test 'cart\\.spec\\.ts' --project=chromium '--grep=Cart (› )?row 1( @|$)'`,
  ],
  ['ctrf/playwright-1.65.json', 'chromium › cart.spec.ts › Cart › works', CART_IN_CHROMIUM],
  ['allure/allure-playwright-3.12.json', 'cart.spec.ts › Cart › works[Project=chromium]', CART_IN_CHROMIUM],
  [
    'playwright/stopped-early.json',
    'cart.spec.ts › Cart › adds an item',
    `npx playwright test 'cart\\.spec\\.ts' '--grep=Cart (› )?adds an item( @|$)'`,
  ],
  ['junit/mocha-11-junit-reporter.xml', 'a.cjs.works.cart works', `npx mocha '--grep=^(works )?cart works$'`],
  ['junit/mocha-12-xunit.xml', 'a.cjs.cart.works', `npx mocha '--grep=^(cart )?works$'`],
  ['junit/mocha-12-xunit.xml', 'stopped."before all" hook for "needs it"', null],
  ['junit/bun-1.4.xml', 'Cart.adds an item', `bun test ./cart.test.ts '--test-name-pattern=adds an item$'`],
  ['go-test/shop-1.27.json', 'example.com/shop/broken.TestMain', 'go test -count=1 example.com/shop/broken'],
  [
    'go-test/every-outcome.json',
    'example.com/shop/crash.TestPanics/inner',
    `go test -count=1 '-run=^TestPanics$/^inner$' example.com/shop/crash`,
  ],
  [
    'go-test/benchmarks.json',
    'example.com/shop/cart.BenchmarkSum',
    `go test -count=1 '-run=^$' '-bench=^BenchmarkSum$' example.com/shop/cart`,
  ],
  [
    'junit/gotestsum-1.13.xml',
    'example.com/shop/cart.TestRows/row_2',
    `go test -count=1 '-run=^TestRows$/^row_2$' example.com/shop/cart`,
  ],
  [
    'trx/vstest-mstest.trx',
    'Shop.CartTests.AddsAnItem',
    'dotnet test --filter FullyQualifiedName=Shop.CartTests.AddsAnItem',
  ],
  [
    'trx/vstest-mstest.trx',
    'Shop.PriceTests.Rounds (0.5,1)',
    'dotnet test --filter FullyQualifiedName=Shop.PriceTests.Rounds',
  ],
  [
    'xunit/xunit-3.xml',
    'Shop.CartTests.AddsAnItem',
    'dotnet test --filter FullyQualifiedName=Shop.CartTests.AddsAnItem',
  ],
  [
    'nunit/nunit3-console.xml',
    'Shop.CartTests.Rounds(0.5,1)',
    `dotnet test --filter 'FullyQualifiedName~Shop.CartTests.Rounds\\('`,
  ],
  ['junit/surefire-3.5-junit5.xml', 'shop.CartTest.breaks', `mvn test '-Dtest=shop.CartTest#breaks'`],
  ['junit/surefire-3.5-testng.xml', 'shop.CartTest.rows[1](1)', `mvn test '-Dtest=shop.CartTest#rows'`],
  [
    'cucumber/messages-js-13.ndjson',
    'Cart.Gifts are free - works',
    `npx cucumber-js features/cart.feature '--name=^works$'`,
  ],
  ['cucumber/messages-jvm-7.ndjson', 'Cart.works', null],
  ['cucumber/behave-1.3.json', 'Cart.Adds an item', `behave features/cart.feature '--name=^Adds an item$'`],
  ['junit/behave-1.3.xml', 'cart.Cart.works', `behave '--name=^works$'`],
  ['robot/robot-7.5.xml', 'Robot.Cart.Adds An Item', `robot '--test=*Robot.Cart.Adds An Item' .`],
  ['junit/ctest-4.4.xml', 'fails.fails', `ctest --output-on-failure '--tests-regex=^fails$'`],
  [
    'bazel/build-events.ndjson',
    '//cart:totals_test',
    'bazel test --nocache_test_results --test_output=errors //cart:totals_test',
  ],
  ['testng/testng-7.10.xml', 'shop.CartTest.adds', null],
];

function commandIn(upload: ParsedUpload, named: string): string | null | undefined {
  for (const { run, executions } of upload.runs)
    for (const { name, filepath, function: own } of executions)
      if (name === named)
        return reproduceCommand({
          ...{ name, filepath: filepath ?? '', function: own ?? '' },
          ...{ framework: run.framework ?? '', language: run.language ?? '', project: run.axes?.project },
        });
  return undefined;
}

test.each(COMMANDS)('%s: %s', async (fixture, name, command) => {
  const format = FORMATS.find((one) => one.name === fixture.split('/')[0]);
  if (!format) throw new Error(`${fixture} has no format`);
  expect(commandIn(await parse(format, await fixtureBytes(fixture)), name)).toBe(command);
});

/** Reports in the form of their writers, which no tool of this machine writes. */
const WRITTEN: readonly [what: string, xml: string, name: string, command: string | null][] = [
  [
    'PHPUnit',
    '<testsuites><testsuite name="a"><testcase name="testAdds" class="Shop\\CartTest" classname="Shop.CartTest" assertions="1"/></testsuite></testsuites>',
    'Shop.CartTest.testAdds',
    `vendor/bin/phpunit '--filter=/^Shop\\\\CartTest::testAdds$/'`,
  ],
  [
    'RSpec in parallel',
    '<testsuite name="rspec2" tests="1"><testcase classname="spec.cart_spec" name="Cart adds" file="./spec/cart_spec.rb"/></testsuite>',
    'spec.cart_spec.Cart adds',
    `bundle exec rspec spec/cart_spec.rb '--example=Cart adds'`,
  ],
  [
    'Gradle',
    '<testsuite name="shop.CartTest" tests="1" skipped="0" failures="0" errors="0" timestamp="2026-11-28T07:05:23.120Z" hostname="build" time="0.1"><testcase name="adds()" classname="shop.CartTest" time="0.1"/></testsuite>',
    'shop.CartTest.adds()',
    './gradlew test --tests shop.CartTest.adds',
  ],
  [
    'nextest',
    '<testsuites name="nextest-run" tests="1"><testsuite name="shop::cart"><testcase name="tests::adds" classname="shop::cart"/></testsuite></testsuites>',
    'shop::cart.tests::adds',
    `cargo nextest run -E 'binary_id(=shop::cart) & test(=tests::adds)'`,
  ],
  [
    'libtest',
    '<testsuites><testsuite name="test" package="test" id="0" errors="0" failures="1" tests="1" skipped="0"><testcase classname="cart::tests" name="adds" time="0.1"/></testsuite></testsuites>',
    'cart::tests.adds',
    'cargo test -- --exact cart::tests::adds',
  ],
  [
    'libtest of a file of the folder tests',
    '<testsuites><testsuite name="test" package="test" id="0" errors="0" failures="1" tests="1" skipped="0"><testcase classname="integration" name="adds" time="0.1"/></testsuite></testsuites>',
    'integration.adds',
    'cargo test -- --exact adds',
  ],
  [
    'minitest',
    '<testsuites><testsuite name="CartTest" filepath="test/cart_test.rb" skipped="0" failures="1" errors="0" tests="1" assertions="1" time="0.1"><testcase name="test_adds" lineno="4" classname="CartTest" assertions="1" time="0.1" file="test/cart_test.rb"/></testsuite></testsuites>',
    'CartTest.test_adds',
    `bundle exec ruby -Ilib:test test/cart_test.rb '--name=CartTest#test_adds'`,
  ],
  [
    'Catch2',
    '<testsuites><testsuite name="cart_tests" errors="0" failures="1" tests="1" hostname="tbd" time="0.1"><testcase classname="cart_tests.global" name="adds, twice/an item" time="0.1" status="run"/></testsuite></testsuites>',
    'cart_tests.global.adds, twice/an item',
    `./cart_tests 'adds\\, twice*'`,
  ],
  [
    'Cypress, whose file is beside its tests',
    '<testsuites name="Mocha Tests" tests="1"><testsuite name="Root Suite" file="cypress/e2e/cart.cy.ts" tests="0"/><testsuite name="Cart" tests="1"><testcase name="Cart adds" classname="adds"/></testsuite></testsuites>',
    'adds.Cart adds',
    'npx cypress run --spec=cypress/e2e/cart.cy.ts',
  ],
  [
    'go-junit-report',
    '<testsuites><testsuite name="example.com/shop" tests="1" failures="0" errors="0" id="0"><properties><property name="go.version" value="go1.27"/></properties><testcase name="TestAdds" classname="example.com/shop"/></testsuite></testsuites>',
    'example.com/shop.TestAdds',
    `go test -count=1 '-run=^TestAdds$' example.com/shop`,
  ],
  [
    'GoogleTest, which does not name its program',
    '<testsuites tests="1" failures="1" disabled="0" errors="0" time="0.1" timestamp="2026-11-28T07:05:23" name="AllTests"><testsuite name="Cart" tests="1" failures="1" disabled="0" skipped="0" errors="0" time="0.1" timestamp="2026-11-28T07:05:23"><testcase name="Adds" status="run" result="completed" time="0.1" classname="Cart"/></testsuite></testsuites>',
    'Cart.Adds',
    null,
  ],
];

test.each(WRITTEN)('%s', async (_, xml, name, command) => {
  expect(commandIn(await parseXml(xml), name)).toBe(command);
});
