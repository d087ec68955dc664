-- The executions of a month, each under the test that its name belongs to now. Other repositories stay as they are.
SET param_month = 202611;
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_names = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf/a.CartTest.adds'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT * REPLACE (
  if(
    repository_id IN {repository_ids: Array(UUID)},
    toUUID(transform(
      concat(toString(repository_id), '/', test_name), {names: Array(String)}, {test_ids: Array(String)}, toString(test_id))),
    test_id) AS test_id)
FROM ci.executions
WHERE toYYYYMM(finished_at) = {month: UInt32}
