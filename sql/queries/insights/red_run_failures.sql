-- In which failure groups the tests of red runs failed, by UTC day: what leads from a red run to causes. The days lead to the runs,
-- each with its failed executions; an execution is in the failure group of its last attempt, which the key of the failures leads
-- to. The nil UUID stands for an execution without details. A run that spans midnight is on both days, with what failed on each.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
WITH red AS
(
  SELECT
    day, pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default,
    groupUniqArrayArray(failed_executions) AS executions
  FROM ci.commit_runs
  WHERE repository_id = {repository_id: UUID} AND failed > 0
    AND day >= toDate(fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC'), 'UTC')
    AND day < toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC')
  GROUP BY day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
)
SELECT
  toUInt16(day) AS day_number, pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default,
  groupArray(CAST((test_id, failure_ids), 'Tuple(test_id String, failure_ids Array(String))')) AS tests
FROM
(
  SELECT
    day, pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default, test_id,
    groupUniqArray(failure_id) AS failure_ids
  FROM
  (
    SELECT
      day, pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default,
      execution.test_id AS test_id, execution.execution_id AS execution_id
    FROM red
    ARRAY JOIN executions AS execution
  ) AS failed
  LEFT JOIN
  (
    SELECT test_id, execution_id, argMax(failure_id, attempt) AS failure_id
    FROM ci.failures
    WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true)
      AND test_id IN (SELECT arrayJoin(executions).1 FROM red)
      AND failed_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC') - toIntervalDay(1)
      AND failed_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC') + toIntervalDay(1)
    GROUP BY test_id, execution_id
  ) AS details USING (test_id, execution_id)
  GROUP BY day, pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default, test_id
)
GROUP BY day, pipeline_name, job_name, axes, run_id, run_attempt, commit_sha, on_default
