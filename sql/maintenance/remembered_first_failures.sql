-- First failures from before the oldest retained month. Their executions have left, so a rebuild keeps them.
SELECT repository_id, test_id, min(f.first) AS first
FROM ci.first_failures AS f
GROUP BY repository_id, test_id
HAVING tupleElement(first, 1) < (SELECT toStartOfMonth(min(finished_at)) FROM ci.executions)
