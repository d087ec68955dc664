-- What quarantines have excused. The days lead to the attempts of CI jobs in which a test failed, each with its failed
-- executions: no execution that passed is read. `scopes` has what each quarantine covers, by test: its number, since when, branch
-- (as a regular expression), pipeline, CI job (empty: every one), failure groups (none: every one) and axes, each with each of its
-- values (none: every leg). A leg is covered if it has a value of each axis. An execution is in the failure group of its last
-- attempt, which the key of the failures leads to. A run is spared if each of its failed executions is excused.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1790000000000;
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_begun_ms = [1790000000000];
SET param_branches = ['^release/[^/]*$'];
SET param_pipelines = ['CI'];
SET param_jobs = ['unit'];
SET param_axis_numbers = [1];
SET param_axis_names = ['os'];
SET param_axis_values = ['windows'];
SET param_failure_ids = ['0d6a11b5-8e6f-5f0c-9a0f-6c8ae5c0d1c7'];
SET param_failure_numbers = [1];
SET param_narrowed_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
WITH
  scopes AS
  (
    SELECT test_id, groupArray((number, begun_ms, branch, pipeline, job, failure_ids, axes)) AS test_scopes
    FROM
    (
      SELECT
        number, test_id, begun_ms, branch, pipeline, job,
        arrayFilter((id, of) -> of = number, {failure_ids: Array(UUID)}, {failure_numbers: Array(UInt32)}) AS failure_ids,
        arrayFilter((axis, of) -> of = number,
          arrayZip({axis_names: Array(String)}, {axis_values: Array(String)}), {axis_numbers: Array(UInt32)}) AS axes
      FROM system.one
      ARRAY JOIN
        arrayEnumerate({test_ids: Array(UUID)}) AS number, {test_ids: Array(UUID)} AS test_id,
        {begun_ms: Array(Int64)} AS begun_ms, {branches: Array(String)} AS branch,
        {pipelines: Array(String)} AS pipeline, {jobs: Array(String)} AS job
    )
    GROUP BY test_id
  ),
  causes AS
  (
    SELECT test_id, execution_id, argMax(failure_id, attempt) AS failure_id
    FROM ci.failures
    WHERE repository_id = {repository_id: UUID} AND on_default IN (false, true)
      AND test_id IN {narrowed_test_ids: Array(UUID)}
      AND failed_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC')
    GROUP BY test_id, execution_id
  ),
  red AS
  (
    SELECT
      day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default, max(branch) AS run_branch,
      max(base_ref) AS run_base_ref, groupUniqArrayArray(failed_executions) AS executions
    FROM ci.commit_runs
    WHERE repository_id = {repository_id: UUID}
      AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC') AND failed > 0
      -- Not by the index of commits: they are anywhere, and to look for thousands in each granule takes longer than to read all.
      AND concat(commit_sha, '') IN
      (
        SELECT commit_sha FROM ci.commit_runs
        WHERE repository_id = {repository_id: UUID}
          AND day >= toDate(fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC'), 'UTC') AND failed > 0
          AND arrayExists(id -> id IN {test_ids: Array(UUID)}, failed_tests)
      )
    GROUP BY day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default
  )
SELECT number, sum(executions) AS failed_executions, count() AS red_runs, countIf(is_spared) AS spared_runs
FROM
(
  SELECT
    sumMap(numbers, arrayMap(one -> toUInt64(1), numbers)) AS counts, countIf(empty(numbers)) = 0 AS is_spared
  FROM
  (
    SELECT
      run,
      arrayMap(scope -> scope.1, arrayFilter(
        scope -> finished_ms >= scope.2
          AND (scope.3 = '' OR branch != '' AND match(branch, scope.3) OR base_ref != '' AND match(base_ref, scope.3))
          AND scope.4 IN ('', pipeline) AND scope.5 IN ('', job)
          AND (empty(scope.6) OR has(scope.6, failure_id))
          AND arrayAll(axis -> arrayExists(own -> own.1 = axis.1 AND has(scope.7, own), leg), scope.7),
        test_scopes)) AS numbers
    FROM
    (
      SELECT
        (day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default) AS run, run_branch AS branch,
        JSONExtractKeysAndValues(axes, 'String') AS leg,
        run_base_ref AS base_ref, pipeline_name AS pipeline, job_name AS job, execution.test_id AS test_id,
        execution.execution_id AS execution_id, execution.finished_ms AS finished_ms
      FROM red
      ARRAY JOIN executions AS execution
    ) AS failed
    LEFT JOIN scopes USING (test_id)
    LEFT JOIN causes USING (test_id, execution_id)
  )
  GROUP BY run
)
ARRAY JOIN counts.1 AS number, counts.2 AS executions
GROUP BY number
