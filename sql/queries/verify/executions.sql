-- Executions that are stored more than once.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT format('execution {0} of repository {1} is stored {2} times', toString(execution_id), toString(repository_id), toString(count())) AS difference,
  '' AS about
FROM ci.executions
WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
GROUP BY repository_id, execution_id
HAVING count() > 1
