-- The tests that passed only after failed attempts on commits off the default branch since a moment. Without the test, the key
-- ends at the branch: a rebuild reads one flag of all executions there.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SELECT commit_sha, groupUniqArray(toString(test_id)) AS test_ids
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND NOT on_default AND is_flaky AND NOT is_confined AND status = 'passed'
  AND commit_sha != ''
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
GROUP BY commit_sha
