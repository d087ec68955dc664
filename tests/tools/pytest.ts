import type { Tool } from './tool.ts';

const CART = `import unittest
import pytest

@pytest.fixture
def table():
    yield
    raise RuntimeError("cannot drop the table")

paid = 0
@pytest.mark.flaky(reruns=2)
def test_pays():
    global paid
    paid += 1
    assert paid == 2

@pytest.mark.flaky(reruns=2)
def test_ships():
    assert False

def test_both(table):
    assert 1 == 2

def test_teardown(table):
    pass

@pytest.mark.flaky(reruns=1)
def test_both_again(table):
    assert 1 == 2

def test_skips_then(table):
    pytest.skip("no")

class TestClass(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no database")
    def test_a(self): pass
    def test_b(self): pass

class TestTear(unittest.TestCase):
    @classmethod
    def tearDownClass(cls):
        raise RuntimeError("no database")
    def test_a(self): pass
    def test_b(self): self.fail("x")

def test_subtests(subtests):
    for i in range(3):
        with subtests.test(msg="row", i=i):
            assert i != 1

class TestSub(unittest.TestCase):
    def test_rows(self):
        for i in range(3):
            with self.subTest(i=i):
                self.assertNotEqual(i, 1)

@pytest.mark.xfail(strict=True)
def test_xpass(): pass

@pytest.mark.xfail
def test_xfail(): assert False

@pytest.mark.skip(reason="later")
def test_later(): pass

@pytest.mark.parametrize("n", [1, 2, "a b"])
def test_rows(n):
    assert n != 2

class TestEmpty:
    def test_works(self): pass

class TestFull:
    def test_works(self): assert False
`;

const JUNIT = ['--junit-xml=report.xml', '-o', 'cache_dir=.cache'];

export const pytest: Tool = {
  name: 'pytest',
  version: '9.2.0, rerunfailures 16.7, xdist 3.8.0, allure-pytest 2.16.2, pytest-json-ctrf 0.6.1',
  from: 'python',
  files: {
    'test_cart.py': CART,
    'crash/test_crash.py': 'import os\ndef test_before(): pass\ndef test_ends(): os._exit(3)\ndef test_after(): pass\n',
    'crash/test_import.py': 'import no_such_module\ndef test_never(): pass\n',
  },
  reports: [
    {
      fixture: 'junit/pytest-9.2-reruns.xml',
      command: ['pytest', '-p', 'no:xdist', ...JUNIT, 'test_cart.py'],
      file: 'report.xml',
    },
    {
      fixture: 'junit/pytest-9.2-xdist.xml',
      command: ['pytest', '-n', '2', '--dist', 'loadfile', ...JUNIT, 'test_cart.py'],
      file: 'report.xml',
    },
    {
      fixture: 'junit/pytest-9.2-crash.xml',
      command: ['pytest', '-n', '1', ...JUNIT, 'crash'],
      file: 'report.xml',
    },
    {
      fixture: 'allure/allure-pytest-2.16-shop.json',
      by: 'allure-pytest 2.16.2',
      command: ['pytest', '-p', 'no:xdist', ...JUNIT, '--alluredir=allure-results', '--ctrf=ctrf.json', 'test_cart.py'],
      file: 'allure-results',
    },
    { fixture: 'ctrf/pytest-9.2-shop.json', by: 'pytest-json-ctrf 0.6.1', file: 'ctrf.json' },
  ],
};
