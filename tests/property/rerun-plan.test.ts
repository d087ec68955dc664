/** The plan of reruns that test runners get, whatever the repository. */
import { expect, test } from 'bun:test';
import fc from 'fast-check';
import { RERUN_PERCENT_MAX, rerunPlan } from '../../src/domain/rerun-plan.ts';

const suite = fc.record({
  tests: fc.uniqueArray(fc.record({ name: fc.string({ minLength: 1 }), isHealthy: fc.boolean() }), {
    selector: ({ name }) => name,
    maxLength: 20,
  }),
  meanSeconds: fc.double({ min: 0, max: 10_000, noNaN: true }),
});
const percent = fc.integer({ min: 1, max: RERUN_PERCENT_MAX });

test('integers are integers, because clients refuse a decimal, and nothing is sent that older clients do not know', () => {
  fc.assert(
    fc.property(suite, percent, (of, share) => {
      const plan = rerunPlan(of, share, 10_000);
      for (const [name, value] of Object.entries(plan))
        if (/duration|count|length/.test(name)) expect(Number.isSafeInteger(value)).toBe(true);
      expect(Object.keys(plan)).toHaveLength(9);
      expect(Object.keys(plan).filter((name) => /retries|^flaky|^broken/.test(name))).toEqual([]);
    }),
  );
});

test('every unhealthy test is a known one, and there is a budget whenever there are tests', () => {
  fc.assert(
    fc.property(suite, percent, (of, share) => {
      const plan = rerunPlan(of, share, 10_000);
      expect(plan.existing_test_names).toEqual(of.tests.map(({ name }) => name));
      for (const name of plan.unhealthy_test_names) expect(plan.existing_test_names).toContain(name);
      expect(plan.budget_ratio_for_new_tests).toBeGreaterThan(0);
      expect(plan.existing_tests_mean_duration_ms > 0).toBe(of.tests.length > 0);
      expect(plan.min_test_execution_count).toBeLessThan(plan.max_test_execution_count);
    }),
  );
});
