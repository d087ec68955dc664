-- How many rows a repository has in each table. The repository begins every key.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT 'runs' AS table_name, count() AS stored FROM ci.runs WHERE repository_id = {repository_id: UUID}
UNION ALL
SELECT 'commit_runs', count() FROM ci.commit_runs WHERE repository_id = {repository_id: UUID}
UNION ALL
SELECT 'failures', count() FROM ci.failures WHERE repository_id = {repository_id: UUID}
UNION ALL
SELECT 'executions', count() FROM ci.executions WHERE repository_id = {repository_id: UUID}
UNION ALL
SELECT 'events', count() FROM ci.events WHERE repository_id = {repository_id: UUID}
