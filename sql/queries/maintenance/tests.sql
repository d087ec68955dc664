-- Every test that ran on a default branch, with its number of executions.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT repository_id, test_id, count() AS executions
FROM ci.executions
WHERE on_default AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
GROUP BY repository_id, test_id
ORDER BY repository_id, test_id
