/** The command that runs a test alone, as each runner spells it. */
import { describe, expect, test } from 'bun:test';
import { reproduceCommand } from '../../src/domain/reproduce-command.ts';

const known = (framework: string, name: string, own: string, filepath = '') => ({
  framework,
  name,
  function: own,
  filepath,
  language: '',
});

describe('each runner', () => {
  const spelled: [string, ReturnType<typeof known>, string | null][] = [
    [
      'pytest by module',
      known('pytest', 'tests.test_cart.test_adds', 'test_adds'),
      'pytest tests/test_cart.py::test_adds',
    ],
    [
      'pytest with a class and a row',
      known('pytest', "tests.test_cart.TestCart.test_adds[it's a.b]", "test_adds[it's a.b]"),
      `pytest 'tests/test_cart.py::TestCart::test_adds[it'\\''s a.b]'`,
    ],
    [
      'pytest with a file that is not named like a test',
      known('pytest', 'checks.cart.Cart.test_adds', 'test_adds', 'checks/cart.py'),
      'pytest checks/cart.py::Cart::test_adds',
    ],
    [
      'pytest by node id',
      known('pytest', 'tests/test_cart.py::test_adds', 'test_adds'),
      'pytest tests/test_cart.py::test_adds',
    ],
    ['pytest without a module that shows', known('pytest', 'cart.test_adds', 'test_adds'), null],
    ['jest', known('jest', 'cart adds.cart adds', 'cart adds'), `npx jest '--testNamePattern=cart adds$'`],
    [
      'jest with its file',
      known('jest', 'src/cart.test.ts.cart > adds (2)', 'cart > adds (2)', 'src/cart.test.ts'),
      `npx jest --runTestsByPath src/cart.test.ts '--testNamePattern=cart (> )?adds \\(2\\)$'`,
    ],
    [
      'vitest, whose class is the file',
      known('vitest', 'src/cart.test.ts.cart > adds', 'cart > adds'),
      `npx vitest run src/cart.test.ts '--testNamePattern=cart (> )?adds$'`,
    ],
    [
      'playwright in its project',
      known('playwright', '[chromium] › e2e/cart.spec.ts › Cart › adds', 'adds', 'e2e/cart.spec.ts'),
      `npx playwright test 'e2e/cart\\.spec\\.ts' --project=chromium '--grep=Cart (› )?adds( @|$)'`,
    ],
    [
      'go with a sub-test',
      known('go test', 'example.com/shop/cart.TestAdds/a_b#01', 'TestAdds'),
      `go test -count=1 '-run=^TestAdds$/^a_b#01$' example.com/shop/cart`,
    ],
    ['a go package that did not build', known('go test', 'example.com/shop/cart', ''), null],
    [
      'nextest',
      known('nextest', 'shop::cart.tests::adds', 'tests::adds'),
      `cargo nextest run -E 'binary_id(=shop::cart) & test(=tests::adds)'`,
    ],
    [
      'rspec',
      known('rspec', 'spec.cart_spec.Cart adds', 'Cart adds', './spec/cart_spec.rb'),
      `bundle exec rspec spec/cart_spec.rb '--example=Cart adds'`,
    ],
    [
      'phpunit',
      known(
        'phpunit',
        'Shop.CartTest.testAdds with data set #0',
        'testAdds with data set #0',
        '/srv/tests/CartTest.php',
      ),
      `vendor/bin/phpunit '--filter=/^Shop\\\\CartTest::testAdds with data set #0$/'`,
    ],
    [
      'maven',
      known('surefire', 'shop.CartTest.rounds(int)[1]', 'rounds(int)[1]'),
      `mvn test '-Dtest=shop.CartTest#rounds'`,
    ],
    ['failsafe', known('surefire', 'shop.CartIT.adds', 'adds'), `mvn verify '-Dit.test=shop.CartIT#adds'`],
    ['gradle', known('gradle', 'shop.CartTest.adds()', 'adds()'), './gradlew test --tests shop.CartTest.adds'],
    ['a display name in place of a Java method', known('gradle', 'shop.CartTest.adds two', 'adds two'), null],
    [
      'dotnet',
      known('xunit', 'Shop.CartTests.Adds(a: 1)', 'Adds'),
      'dotnet test --filter FullyQualifiedName=Shop.CartTests.Adds',
    ],
    [
      'rows of NUnit',
      known('nunit', 'Shop.CartTests.Adds(1)', 'Adds'),
      `dotnet test --filter 'FullyQualifiedName~Shop.CartTests.Adds\\('`,
    ],
    [
      'rows of MSTest',
      known('mstest', 'Shop.CartTests.Adds (1)', 'Adds'),
      'dotnet test --filter FullyQualifiedName=Shop.CartTests.Adds',
    ],
    [
      'jest by Allure',
      known('jest', 'src/cart.test.ts#cart adds', 'adds', 'src/cart.test.ts'),
      `npx jest --runTestsByPath src/cart.test.ts '--testNamePattern=cart adds$'`,
    ],
    ['rspec by Allure', known('rspec', 'Cart adds', 'adds'), `bundle exec rspec '--example=Cart adds'`],
    [
      'phpunit by Allure',
      known('phpunit', 'Shop\\CartTest::testAdds', 'testAdds'),
      `vendor/bin/phpunit '--filter=/^Shop\\\\CartTest::testAdds$/'`,
    ],
    [
      'go by CTRF',
      known('gotest', 'example.com/shop › TestAdds', 'TestAdds'),
      `go test -count=1 '-run=^TestAdds$' example.com/shop`,
    ],
    [
      'mocha in its file',
      known('mocha', 'cart.adds', 'adds', 'test/cart.js'),
      `npx mocha test/cart.js '--grep=^(cart )?adds$'`,
    ],
    [
      'a file of Cypress on the machine of CI',
      known('cypress', 'Cart adds', 'Cart adds', '/srv/cypress/a.cy.ts'),
      null,
    ],
    [
      'cucumber of Ruby',
      { ...known('cucumber', 'Cart.Adds (1)', 'Adds (1)', 'features/cart.feature'), language: 'ruby' },
      `bundle exec cucumber features/cart.feature '--name=^Adds \\(1\\)$'`,
    ],
    [
      'a test of Robot Framework with a wildcard',
      known('robot', 'S.Adds [1]', 'Adds [1]'),
      `robot '--test=*S.Adds [[]1]' .`,
    ],
    ['an option in place of a label of Bazel', known('bazel', '--config=x //a:b', ''), null],
    ['a runner that is not known', known('', 'shop.CartTest.adds', 'adds'), null],
    ['a name of an object', known('constructor', 'a.b', 'b'), null],
  ];
  for (const [what, told, command] of spelled)
    test(what, () => {
      expect(reproduceCommand(told)).toBe(command);
    });
});
