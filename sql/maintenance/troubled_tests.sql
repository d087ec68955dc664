-- The tests of a repository that ever failed on the default branch, or passed only after failed attempts. Included where
-- passes of all other tests are left out.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT DISTINCT test_id FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default AND status != 'skipped' AND (status = 'failed' OR is_flaky)
