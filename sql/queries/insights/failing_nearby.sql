-- The runs of an hour, which of some tests failed in each, and how many did in all: whether trouble hit other changes as well.
-- The days of a repository are one range of the key, and a row is an upload of a run, so what is read is bounded by the runs
-- of two days. Tests are few (what failed on one commit), and only runs in which several of them failed are of use.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795226400000;
SET param_together = 1;
SET param_rows = 300;
SELECT
  on_default, max(branch) AS run_branch,
  max(pull_request) AS run_pull_request, toUnixTimestamp64Milli(min(first_at)) AS started_ms,
  toUnixTimestamp64Milli(max(last_at)) AS ended_ms, toUInt32(sum(passed)) AS run_passed, toUInt32(sum(failed)) AS run_failed,
  arrayMap(id -> toString(id), groupUniqArrayArray(arrayIntersect(failed_tests, {test_ids: Array(UUID)}))) AS tests
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND day >= toDate(fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC'), 'UTC')
  AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC')
  AND first_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC') AND last_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
GROUP BY commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
HAVING length(tests) >= {together: UInt32}
ORDER BY length(tests) DESC
LIMIT {rows: UInt32}
