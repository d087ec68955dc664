/**
 * How test runners find out by running tests again whether they are flaky: new ones before they are merged, unhealthy ones
 * on the default branch. The names are those of the clients that ask for it.
 */

/** Greatest value of the setting: the time for running tests again, in percent of the time that the known tests take. */
export const RERUN_PERCENT_MAX = 100;

/** Even a short suite gets this long. */
const BUDGET_MS_MIN = 4_000;
/** A test that cannot run this often within the budget is left alone: fewer attempts prove little. */
const EXECUTIONS_MIN = 5;
/** Enough to see a test fail that fails once in a hundred times: 0.99^300 is 0.05. */
const EXECUTIONS_MAX = 300;

/** Repositories with more tests are left alone: every CI job would download their names. */
export const KNOWN_TESTS_MAX = 100_000;

export interface RerunPlan {
  budget_ratio_for_new_tests: number;
  budget_ratio_for_unhealthy_tests: number;
  existing_test_names: readonly string[];
  unhealthy_test_names: readonly string[];
  existing_tests_mean_duration_ms: number;
  min_budget_duration_ms: number;
  min_test_execution_count: number;
  max_test_execution_count: number;
  max_test_name_length: number;
}

export interface KnownSuite {
  tests: readonly { name: string; isHealthy: boolean }[];
  /** Mean time of one execution. */
  meanSeconds: number;
}

/**
 * @param percent the setting: greater than 0
 * @param nameLengthMax of the test names that an upload may have
 */
export function rerunPlan({ tests, meanSeconds }: KnownSuite, percent: number, nameLengthMax: number): RerunPlan {
  return {
    budget_ratio_for_new_tests: percent / 100,
    budget_ratio_for_unhealthy_tests: percent / 100,
    existing_test_names: tests.map(({ name }) => name),
    unhealthy_test_names: tests.filter(({ isHealthy }) => !isHealthy).map(({ name }) => name),
    // Clients take whole milliseconds only, and 0 for "no budget".
    existing_tests_mean_duration_ms: tests.length === 0 ? 0 : Math.max(1, Math.round(1_000 * meanSeconds)),
    min_budget_duration_ms: BUDGET_MS_MIN,
    min_test_execution_count: EXECUTIONS_MIN,
    max_test_execution_count: EXECUTIONS_MAX,
    max_test_name_length: nameLengthMax,
  };
}
