-- The months of which something is stored.
SELECT DISTINCT month
FROM
(
  SELECT DISTINCT toYYYYMM(finished_at) AS month FROM ci.executions
  UNION ALL
  SELECT DISTINCT toYYYYMM(failed_at) AS month FROM ci.failures
)
ORDER BY month
