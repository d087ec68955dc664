/** Other tools in Python. */
import type { Tool } from './tool.ts';

const STEPS = `from behave import given

@given("a cart")
def cart(context): pass

@given("a broken cart")
def broken(context): assert False, "broken"

@given("a cart that cannot be made")
def error(context): raise RuntimeError("no database")

@given("a cart of {count:d}")
def cart_of(context, count): assert count != 2
`;

const FEATURE = `Feature: Cart
  Scenario: works
    Given a cart
  Scenario: pays
    Given a broken cart
  Scenario: ships
    Given a cart that cannot be made
  Scenario: undefined one
    Given nothing like that
  @skip
  Scenario: later
    Given a cart
  Scenario: same
    Given a cart
  Scenario: same
    Given a broken cart
  Scenario Outline: rounds
    Given a cart of <count>
    Examples:
      | count |
      | 1     |
      | 2     |
`;

export const behave: Tool = {
  name: 'behave',
  version: '1.3.3',
  from: 'python',
  files: {
    'features/cart.feature': FEATURE,
    'features/courier.feature': 'Feature: Courier\n  Scenario: works\n    Given a broken cart\n',
    'features/steps/steps.py': STEPS,
  },
  reports: [
    {
      fixture: 'junit/behave-1.3.xml',
      command: ['behave', '--junit', '--tags', 'not @skip'],
      file: 'reports/TESTS-cart.xml',
    },
    {
      fixture: 'cucumber/behave-1.3-shop.json',
      command: ['behave', '-f', 'json', '-o', 'report.json', '--tags', 'not @skip'],
      file: 'report.json',
    },
  ],
};

const SUITE = `*** Test Cases ***
Works
    Log    fine
Pays
    Fail    no courier
Skips
    Skip    no
Same
    Log    fine
Rounds
    [Template]    Should Be True
    1 == 1
    1 == 2
`;

export const robot: Tool = {
  name: 'Robot Framework',
  version: '7.5',
  from: 'python',
  files: {
    's/cart.robot': SUITE,
    's/courier.robot': '*** Test Cases ***\nWorks\n    Fail    broken\n',
    's/stopped.robot':
      '*** Settings ***\nSuite Setup    Fail    no database\n*** Test Cases ***\nNever\n    Log    fine\nNor This\n    Log    fine\n',
  },
  reports: [
    {
      fixture: 'junit/robot-7.5.xml',
      command: ['robot', '--xunit', 'report.xml', '--log', 'NONE', '--report', 'NONE', '--output', 'NONE', 's'],
      file: 'report.xml',
    },
    {
      fixture: 'robot/robot-7.5-shop.xml',
      command: ['robot', '--log', 'NONE', '--report', 'NONE', '--output', 'output.xml', 's'],
      file: 'output.xml',
    },
  ],
};

const UNITTEST = `import unittest

class CartTest(unittest.TestCase):
    def test_works(self): pass
    def test_pays(self): self.fail("no courier")
    def test_breaks(self): raise RuntimeError("no database")
    @unittest.skip("later")
    def test_later(self): pass
    @unittest.expectedFailure
    def test_expected(self): self.fail("known")
    @unittest.expectedFailure
    def test_unexpected(self): pass
    def test_rows(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)

class CourierTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls): raise RuntimeError("no database")
    def test_works(self): pass
`;

export const unittest: Tool = {
  name: 'unittest-xml-reporting',
  version: '4.0.0',
  from: 'python',
  files: { 'test_shop.py': UNITTEST },
  reports: [
    {
      fixture: 'junit/unittest-4.0.xml',
      command: ['python', '-m', 'xmlrunner', 'test_shop', '--output-file', 'report.xml'],
      file: 'report.xml',
    },
  ],
};

/** Tests of any program: a script that passes when it is run again, one that crashes, and folders with the same names. */
const ROOT = `add_test(works "true")
add_test(fails "false")
add_test(flaky "sh" "-c" "test -e ran || { touch ran; false; }")
add_test(crashes "sh" "-c" "kill -SEGV $$")
add_test(slow "sleep" "5")
set_tests_properties(slow PROPERTIES TIMEOUT 1)
add_test(off "true")
set_tests_properties(off PROPERTIES DISABLED TRUE)
add_test(skips "sh" "-c" "exit 77")
set_tests_properties(skips PROPERTIES SKIP_RETURN_CODE 77)
add_test(missing "/no/such/program")
add_test(wanted "false")
set_tests_properties(wanted PROPERTIES WILL_FAIL TRUE)
subdirs(courier)
`;

export const ctest: Tool = {
  name: 'CTest',
  version: '4.4.4',
  from: 'python',
  files: { 'CTestTestfile.cmake': ROOT, 'courier/CTestTestfile.cmake': 'add_test(works "false")\n' },
  reports: [
    {
      fixture: 'junit/ctest-4.4.xml',
      command: ['ctest', '--repeat', 'until-pass:3', '--output-junit', 'report.xml'],
      file: 'report.xml',
    },
  ],
};
