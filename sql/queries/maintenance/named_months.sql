-- Months in which tests of some names ran, of repositories in which tests were renamed, and how many of these executions are
-- stored under another test than the name belongs to now. `names` are `<repository>/<name>`, `test_ids` the tests of these
-- names. A range of the key for each repository.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_names = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf/a.CartTest.adds'];
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SELECT
  toYYYYMM(finished_at) AS month,
  countIf(transform(name, {names: Array(String)}, {test_ids: Array(String)}, '') != toString(test_id)) AS misnamed
FROM (
  SELECT finished_at, test_id, concat(toString(repository_id), '/', test_name) AS name FROM ci.executions
  WHERE repository_id IN {repository_ids: Array(UUID)}
)
WHERE name IN {names: Array(String)}
GROUP BY month
ORDER BY month
