/** The plan of a run of the tests: every file once, and none left over at the end. */
import { expect, test } from 'bun:test';
import { Glob } from 'bun';
import fc from 'fast-check';
import { ALONE, ON_SERVERS, passedIn, planTests, runBatches, secondsIn } from '../../scripts/test-plan.ts';

const timed = fc.uniqueArray(
  fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.double({ min: 0, max: 200, noNaN: true })),
  {
    selector: ([name]) => name,
  },
);

test('every file runs once, whether it has been timed or not', () => {
  fc.assert(
    fc.property(timed, fc.array(fc.constantFrom('new one', 'new two', ...ALONE)), (known, others) => {
      const files = [...new Set([...known.map(([name]) => name), ...others])];
      const { batches, alone } = planTests(files, Object.fromEntries(known));
      expect([...batches.flat(), ...alone].toSorted()).toEqual(files.toSorted());
      expect(batches.every((batch) => batch.length > 0)).toBe(true);
      expect(alone.every((file) => ALONE.has(file))).toBe(true);
    }),
  );
});

test('batches begin with the longest, and none is longer than the longest file or twice the aim', () => {
  fc.assert(
    fc.property(timed, (known) => {
      const seconds = Object.fromEntries(known);
      const { batches } = planTests(Object.keys(seconds), seconds);
      const sums = batches.map((batch) => batch.reduce((sum, file) => sum + (seconds[file] ?? 0), 0));
      expect(sums.every((sum, i) => i === 0 || sum <= (sums[i - 1] ?? 0) + 1e-6)).toBe(true);
      expect(Math.max(0, ...sums)).toBeLessThanOrEqual(Math.max(200, ...known.map(([, took]) => took)));
    }),
  );
});

test('the report of a batch says how long the tests of each file took, and how many passed', () => {
  const report = `bun test v1.4.5
tests/unit/one.test.ts:
(pass) a > b [1500.00ms]
(skip) c
(fail) d [600.00ms]

tests/unit/two.test.ts:
(pass) e
(pass) f [40.00ms]

1 tests failed:
(fail) d [600.00ms]
`;
  expect(secondsIn(report)).toEqual({ 'tests/unit/one.test.ts': 2.1, 'tests/unit/two.test.ts': 0 });
  expect(passedIn(report)).toEqual({ 'tests/unit/one.test.ts': 1, 'tests/unit/two.test.ts': 2 });
});

test.each(Object.entries(ON_SERVERS))(
  'each file that is to run on servers (%s) is there, and named once',
  (_, patterns) => {
    const named = patterns.flatMap((pattern) => {
      const [, names] = /\{(.*)\}/.exec(pattern) ?? [];
      const found = [...new Glob(pattern).scanSync('.')];
      expect(found.length).toBeGreaterThan(0);
      if (names !== undefined) expect(found).toHaveLength(names.split(',').length);
      return found;
    });
    expect(new Set(named).size).toBe(named.length);
  },
);

test('a batch that fails fails the run, though one that began before it passes later', async () => {
  const { promise: failed, resolve } = Promise.withResolvers<void>();
  const run = async (batch: string): Promise<number> => {
    if (batch === 'fails') {
      resolve();
      return 1;
    }
    await failed;
    await Bun.sleep(1);
    return 0;
  };
  expect(await runBatches(['passes', 'fails'], 2, run)).toBe(1);
  expect(await runBatches(['passes', 'passes'], 2, async () => 0)).toBe(0);
});
