-- The tests that passed or failed on a default branch in a month, whose baselines must move past it.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_month = 202611;
SELECT repository_id, test_id
FROM ci.executions
WHERE on_default AND toYYYYMM(finished_at) = {month: UInt32} AND status != 'skipped'
  AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
GROUP BY repository_id, test_id
ORDER BY repository_id, test_id
