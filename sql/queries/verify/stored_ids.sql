-- The ids of a month's executions, a sixteenth at a time: all of them may not fit into memory.
SET param_month = 202611;
SET param_part = 0;
SET param_leaving = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SELECT toString(e.execution_id) AS execution_id
FROM ci.executions AS e
WHERE toYYYYMM(finished_at) = {month: UInt32} AND e.execution_id % 16 = {part: UInt8}
  AND NOT has({leaving: Array(UUID)}, repository_id)
