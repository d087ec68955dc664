-- Executions that are flaky within their run: flagged by their source, or passed after failed attempts. Version 0, so that
-- any verdict of the evaluation overrides it.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  repository_id, test_id, finished_at, execution_id, true AS is_flaky, 'within_run' AS rule, toUInt64(0) AS version
FROM ci.executions AS e
WHERE on_default AND e.is_flaky AND status != 'skipped' AND ({is_all: Bool} OR repository_id = {repository_id: UUID})
