-- The earliest retained failure of each test on the default branch. The table also remembers earlier failures, whose
-- executions have left.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT repository_id, test_id, min((finished_at, execution_id, commit_sha, pull_request)) AS first
FROM ci.executions
WHERE on_default AND status = 'failed' AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
GROUP BY repository_id, test_id
