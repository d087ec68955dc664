-- How many executions are stored, to compare with what the ledger has claimed.
SELECT count() AS executions FROM ci.executions
