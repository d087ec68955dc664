-- The failures of a month, each under the test of its execution. Their groups follow from it (regrouped_failures.sql).
SET param_month = 202611;
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_names = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf/a.CartTest.adds'];
SELECT f.* REPLACE (if(e.renamed = 1, e.of_test, f.test_id) AS test_id)
FROM (SELECT * FROM ci.failures WHERE toYYYYMM(failed_at) = {month: UInt32}) AS f
LEFT ANY JOIN
(
  SELECT repository_id, execution_id, test_id AS of_test, 1 AS renamed FROM ci.executions
  WHERE repository_id IN {repository_ids: Array(UUID)} AND failures > 0 AND toYYYYMM(finished_at) = {month: UInt32}
    AND concat(toString(repository_id), '/', test_name) IN {names: Array(String)}
) AS e ON e.repository_id = f.repository_id AND e.execution_id = f.execution_id
