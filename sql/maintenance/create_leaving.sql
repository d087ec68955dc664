-- Ids of executions that leave. The table exists only while they do.
CREATE TABLE ci.leaving (execution_id UInt64)
ENGINE = MergeTree
ORDER BY execution_id
