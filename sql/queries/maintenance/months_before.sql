-- The months before another one of which a repository has executions or events. The months limit it to their partitions.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_before = 202611;
SELECT DISTINCT month FROM
(
  SELECT toYYYYMM(finished_at) AS month FROM ci.executions
  WHERE repository_id = {repository_id: UUID} AND toYYYYMM(finished_at) < {before: UInt32}
  UNION ALL
  SELECT toYYYYMM(received_at) AS month FROM ci.events
  WHERE repository_id = {repository_id: UUID} AND toYYYYMM(received_at) < {before: UInt32}
)
ORDER BY month
