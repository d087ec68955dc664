-- The tests that passed or failed on a default branch in a month, whose baselines must move past it.
SET param_month = 202611;
SELECT repository_id, test_id
FROM ci.executions
WHERE on_default AND toYYYYMM(finished_at) = {month: UInt32} AND status != 'skipped'
GROUP BY repository_id, test_id
ORDER BY repository_id, test_id
