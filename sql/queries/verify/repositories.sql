-- The repositories of which something is stored, also those that PostgreSQL does not know. Reads one column of each table,
-- which the key sorts by.
SELECT DISTINCT repository_id FROM ci.executions
UNION DISTINCT SELECT DISTINCT repository_id FROM ci.failures
UNION DISTINCT SELECT DISTINCT repository_id FROM ci.runs
