-- Months with executions that are wrongly marked as on or off the default branch.
SET param_is_every_month = true;
SET param_month = 202611;
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_branches = ['main'];
SELECT
  toYYYYMM(finished_at) AS month, count() AS executions, groupUniqArray(toString(repository_id)) AS repositories
FROM
(
  /*include maintenance/executions_and_branch*/
)
WHERE on_default != is_of_default_branch
GROUP BY month
ORDER BY month
