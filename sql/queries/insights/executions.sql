-- The identities under which one test ran in a window, and how often: one range of the key. `known_name` tells in the same statement
-- whether the test is known at all; a second statement would double the read.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_sort = 'executions_count';
SET param_sign = -1;
SET param_is_first = true;
SET param_k0 = 0;
SET param_k1 = '';
SET param_k2 = '';
SET param_rows = 11;
WITH (
  SELECT anyLast(test_name) FROM ci.catalog WHERE repository_id = {repository_id: UUID} AND test_id = {test_id: UUID}
) AS known_name
SELECT
  known_name,
  groupArray(CAST(
    (pipeline_name, job_name, executions_count, k0, k1, k2),
    'Tuple(pipeline_name String, job_name String, executions_count Int64, k0 Int64, k1 String, k2 String)'
  )) AS identities
FROM
(
  SELECT
    pipeline_name, job_name, executions_count,
    if({sort: String} = 'executions_count', {sign: Int64} * executions_count, 0) AS k0,
    if({sort: String} = 'job_name', job_name, pipeline_name) AS k1,
    if({sort: String} = 'job_name', pipeline_name, job_name) AS k2
  FROM
  (
    SELECT toString(pipeline_name) AS pipeline_name, toString(job_name) AS job_name, toInt64(count()) AS executions_count
    FROM ci.executions
    WHERE repository_id = {repository_id: UUID} AND on_default AND test_id = {test_id: UUID}
      AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
      AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
    GROUP BY pipeline_name, job_name
  )
  WHERE {is_first: Bool} OR (k0, k1, k2) /*beyond*/ > ({k0: Int64}, {k1: String}, {k2: String})
  ORDER BY k0 /*order*/ ASC, k1 /*order*/ ASC, k2 /*order*/ ASC
  LIMIT {rows: UInt32}
)
