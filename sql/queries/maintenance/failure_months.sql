-- The months that have failures; they are regrouped one by one.
SELECT DISTINCT toYYYYMM(failed_at) AS month
FROM ci.failures
ORDER BY month
