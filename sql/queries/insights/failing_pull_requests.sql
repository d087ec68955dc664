-- The pull requests in whose runs some tests failed, by test, within a week: how many others fail in the same test. The days of
-- a repository are one range of the key. Most runs failed nothing, and of those only the smallest column is read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795824000000;
SET param_own = [7];
SELECT toString(failed_test) AS test_id, toUInt32(uniqExact(pull_request)) AS pull_requests
FROM ci.commit_runs
ARRAY JOIN arrayIntersect(failed_tests, {test_ids: Array(UUID)}) AS failed_test
WHERE repository_id = {repository_id: UUID} AND failed > 0 AND pull_request > 0 AND NOT on_default
  AND pull_request NOT IN {own: Array(UInt32)}
  AND day >= toDate(fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC'), 'UTC')
  AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC')
  AND first_at <= fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC') AND last_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
GROUP BY failed_test
