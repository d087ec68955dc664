-- Executions that are stored under another test than their name belongs to, under the one that it belongs to. `test_ids` are the
-- tests that have them, `tests` those of the names, `right_ids` each of these once: ranges of the key. What is there already is
-- left out, so that a copy which was cut off can be made again.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_names = ['a.CartTest.adds'];
SET param_tests = ['9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SET param_right_ids = ['9d0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12'];
SELECT wrong.* REPLACE (toUUID(transform(wrong.test_name, {names: Array(String)}, {tests: Array(String)}, '')) AS test_id)
FROM
(
  SELECT * FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {test_ids: Array(UUID)}
    AND test_name IN {names: Array(String)}
    AND transform(test_name, {names: Array(String)}, {tests: Array(String)}, '') != toString(test_id)
    AND execution_id NOT IN
    (
      SELECT execution_id FROM ci.executions
      WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true) AND test_id IN {right_ids: Array(UUID)}
        AND test_name IN {names: Array(String)}
        AND transform(test_name, {names: Array(String)}, {tests: Array(String)}, '') = toString(test_id)
    )
) AS wrong
