-- The number of stored executions, to compare with what the ledger has claimed.
SELECT count() AS executions FROM ci.executions
