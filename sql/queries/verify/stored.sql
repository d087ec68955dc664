-- How many executions are stored, of all months.
SELECT count() AS executions FROM ci.executions
