-- The executions of a month, marked by the current default branch of their repository.
SET param_is_every_month = false;
SET param_month = 202611;
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_branches = ['main'];
SELECT * EXCEPT (is_of_default_branch) REPLACE (is_of_default_branch AS on_default)
FROM
(
  /*include maintenance/executions_and_branch*/
)
