-- Which of some tests failed on some commits: without a failure there is nothing to contradict, and most tests have none.
-- The status, one byte a row and mostly the same, is read before the commit.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_commits = ['1111111111111111111111111111111111111111'];
SELECT DISTINCT test_id
FROM ci.executions
PREWHERE repository_id = {repository_id: UUID} AND on_default AND test_id IN {test_ids: Array(UUID)} AND status = 'failed'
WHERE commit_sha IN {commits: Array(String)}
