/** The kinds of records in a report: attempts, repeats or namesakes. docs/executions.md says it in words. */
import { describe, expect, test } from 'bun:test';
import { decisiveReportOf } from '../../src/domain/decisive-report.ts';
import type { Home } from '../../src/domain/namesakes.ts';
import { type Listing, type Part, settled, type TestRecord } from '../../src/domain/records.ts';
import type { Status } from '../../src/domain/status.ts';

const STATUSES: Readonly<Record<string, Status>> = { P: 'passed', F: 'failed', S: 'skipped' };
let made = 0;
function record(letter: string, { part = 'whole', round = 0, listing = 'attempts', home = null }: Partial<TestRecord>) {
  const number = ++made;
  const status = STATUSES[letter] ?? 'passed';
  const failures =
    status === 'failed' || part === 'attempt'
      ? [{ attempt: 1, type: null, message: `failure ${number}`, stacktrace: null }]
      : [];
  return {
    name: 'pays',
    status,
    durationSeconds: 1,
    finishedAtMs: number,
    isFlaky: false,
    isRetried: false,
    failures,
    listing,
    part,
    round,
    home,
  } satisfies TestRecord;
}
/** `F1 P2`: a letter for each record, with its round. A small letter is an attempt, `+` an addition. */
const recordsOf = (text: string, listing: Listing): TestRecord[] =>
  text.split(' ').map((word) => {
    const part: Part = word.startsWith('+') ? 'addition' : /^[a-z]/.test(word) ? 'attempt' : 'whole';
    const letter = word.replace('+', '').charAt(0).toUpperCase();
    return record(letter, { listing, part, round: Number(/\d/.exec(word)?.[0] ?? 0) });
  });
/** `flaky 2`: how each execution ended, and its failures. */
const outcomeOf = ({ status, isFlaky, failures }: TestRecord): string =>
  `${isFlaky ? 'flaky' : status} ${failures.length}`;

describe('records of one test in one place', () => {
  test.each([
    ['attempts', 'F P', ['flaky 1'], 'run again until it passed'],
    ['attempts', 'F F P', ['flaky 2'], 'run again twice'],
    ['attempts', 'F F', ['failed 2'], 'run again, and it still fails'],
    ['attempts', 's P', ['flaky 1'], 'skipped because it failed, as TestNG says'],
    ['attempts', 's s F', ['failed 3'], 'the same, and it still fails'],
    ['attempts', 'P F', ['failed 1'], 'a test that passed is not run again: a namesake'],
    ['attempts', 'P F P', ['failed 1'], 'the same'],
    ['attempts', 'F S', ['failed 1'], 'a skip decides nothing'],
    ['attempts', 'P P', ['passed 0', 'passed 0'], 'namesakes that agree'],
    ['attempts', 'S P', ['skipped 0', 'passed 0'], 'the same'],
    ['attempts', 'F +F', ['failed 2'], 'a failure and the error of its teardown'],
    ['attempts', 'P +F', ['failed 1'], 'a pass and the error of its teardown'],
    ['never', 'F P', ['failed 1'], 'the runner lists no attempts: namesakes'],
    ['never', 'P P P', ['passed 0', 'passed 0', 'passed 0'], 'namesakes that agree'],
    ['reruns', 'P P F', ['failed 1'], 'attempts that do not say that they failed'],
    ['reruns', 'P P P', ['flaky 0'], 'the same, and it passed in the end'],
    ['reruns', 'P P F +F', ['failed 2'], 'the same, and its teardown failed, too'],
    ['reruns', 'P S', ['skipped 0'], 'the same, and it was skipped in the end'],
    ['repeats', 'F P', ['failed 1', 'passed 0'], 'each is an execution'],
    ['repeats', 'F0 P1', ['flaky 1'], 'what failed in a round is run again in the next'],
    ['repeats', 'F0 F1 P2', ['flaky 2'], 'and in the one after'],
    ['repeats', 'F0 F1', ['failed 2'], 'and still fails'],
    ['repeats', 'F0 P0 P1', ['flaky 1', 'passed 0'], 'two repeats, of which one is run again'],
    ['repeats', 'P0 F1', ['passed 0', 'failed 1'], 'what passed is not run again, but repeated'],
  ] as [Listing, string, string[], string][])('%s, %s: %j, because of: %s', (listing, text, outcomes) => {
    expect(settled(recordsOf(text, listing)).executions.map(outcomeOf)).toEqual(outcomes);
  });
  test('after attempts, time and duration are those of the last; the failures of all are numbered', () => {
    const records = recordsOf('F F P', 'attempts');
    const [execution] = settled(records).executions;
    expect(execution).toMatchObject({ durationSeconds: 1, finishedAtMs: records[2]?.finishedAtMs, isRetried: true });
    expect(execution?.failures.map(({ attempt }) => attempt)).toEqual([1, 2]);
  });
  test('namesakes of which one failed take as long as all together, and are named in the receipt', () => {
    const { executions, joined } = settled(recordsOf('P F P', 'never'));
    expect(executions).toMatchObject([{ durationSeconds: 3, isRetried: false }]);
    expect(joined).toEqual(['pays']);
  });
});

describe('records with one name in several homes', () => {
  const at = (home: Partial<Home>): TestRecord =>
    record('P', { home: { suites: [], file: null, project: null, className: null, ownName: 'pays', ...home } });
  const namesOf = (...homes: Partial<Home>[]): string[] => settled(homes.map(at)).executions.map(({ name }) => name);

  test('have separate names, made of what differs', () => {
    expect(namesOf({ suites: ['cart'] }, { suites: ['courier'] })).toEqual(['cart.pays', 'courier.pays']);
    expect(namesOf({ suites: ['a', 'cart'] }, { suites: ['b', 'cart'] })).toEqual(['a.cart.pays', 'b.cart.pays']);
    expect(namesOf({ suites: ['a', 'Cart'], className: 'Cart' }, { suites: ['b', 'Cart'], className: 'Cart' })).toEqual(
      ['a.Cart.pays', 'b.Cart.pays'],
    );
    expect(namesOf({ file: '/ci/1/a/x.js' }, { file: '/ci/1/b/x.js' })).toEqual(['a/x.js.pays', 'b/x.js.pays']);
    expect(
      namesOf(
        { suites: ['s'], className: 'x.spec.ts', project: 'webkit' },
        { suites: ['s'], className: 'x.spec.ts', project: 'chromium' },
      ),
    ).toEqual(['[webkit] › x.spec.ts › pays', '[chromium] › x.spec.ts › pays']);
  });
  test('outside of all suites keep the name', () => {
    expect(namesOf({ suites: ['cart'] }, {})).toEqual(['cart.pays', 'pays']);
  });
  test('in one home keep the name, too', () => {
    expect(namesOf({ suites: ['cart'] }, { suites: ['cart'] })).toEqual(['pays', 'pays']);
  });
  test('never have one name in the end', () => {
    const homes = ['a', 'b'].flatMap((suite) => ['f', 'g'].map((file) => ({ suites: [suite], file })));
    expect(new Set(namesOf(...homes)).size).toBe(4);
  });
});

test('a hundred thousand records of one test take no time', () => {
  for (const listing of ['attempts', 'never', 'reruns', 'repeats'] as const) {
    const records = Array.from({ length: 100_000 }, (_, i) => record('F', { listing, round: i }));
    const before = process.cpuUsage().user;
    settled(records);
    expect(process.cpuUsage().user - before).toBeLessThan(5_000_000);
  }
});

test.each([
  ['bazel-testlogs/shop/cart/test_attempts/attempt_1.xml', 'bazel-testlogs/shop/cart/test.xml'],
  ['test_attempts/attempt_12.xml', 'test.xml'],
  ['bazel-testlogs/shop/cart/test.xml', null],
  ['attempts/attempt_1.xml', null],
])('the last attempt of %s is in %p', (path, decisive) => {
  expect(decisiveReportOf(path)).toBe(decisive);
});
