-- Failures of some executions, under the tests that these are to be stored under (`tests`, in the order of `execution_ids`), in the
-- groups that these tests have for them: `former` are `<group>/<test>`, `groups` what becomes of them. `test_ids` are the tests that
-- have them. What is there already is left out.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_execution_ids = [1];
SET param_tests = ['9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_right_ids = ['9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_former = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf/9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_groups = ['6beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SELECT wrong.* EXCEPT (test) REPLACE (
  toUUID(wrong.test) AS test_id,
  toUUID(transform(concat(toString(wrong.failure_id), '/', wrong.test), {former: Array(String)}, {groups: Array(String)}, ''))
    AS failure_id)
FROM
(
  SELECT *, transform(execution_id, {execution_ids: Array(UInt64)}, {tests: Array(String)}, '') AS test FROM ci.failures
  WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
    AND execution_id IN {execution_ids: Array(UInt64)} AND test != toString(test_id)
    AND execution_id NOT IN
    (
      SELECT execution_id FROM ci.failures
      WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {right_ids: Array(UUID)}
        AND execution_id IN {execution_ids: Array(UInt64)}
        AND transform(execution_id, {execution_ids: Array(UInt64)}, {tests: Array(String)}, '') = toString(test_id)
    )
) AS wrong
