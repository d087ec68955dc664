-- How many of some executions are stored. The months limit it to their partitions.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_months = [202611];
SET param_ids = [1234567890123456789];
SELECT count() AS stored
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND toYYYYMM(finished_at) IN {months: Array(UInt32)}
  AND execution_id IN {ids: Array(UInt64)}
