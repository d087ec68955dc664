-- A page of the executions of a test on any branch, by when they finished. The key leads to two ranges, that of the default
-- branch and that of all others; the rest are filters on what lies in the window.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_id = '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_branches = [];
SET param_pipelines = [];
SET param_jobs = [];
SET param_commits = [];
SET param_pulls = [];
SET param_statuses = [];
SET param_has_failed = false;
SET param_axis_names = [];
SET param_axis_pairs = [];
SET param_is_first = true;
SET param_key_ms = 0;
SET param_key_execution = 0;
SET param_rows = 11;
SELECT
  toString(execution_id) AS execution, toUnixTimestamp64Milli(finished_at) AS finished_ms, toString(status) AS ended, is_flaky,
  is_retried, duration_s, toString(pipeline_name) AS pipeline, toString(job_name) AS job, toString(axes) AS leg,
  toString(place) AS machine, run_id, run_attempt, commit_sha, branch, base_ref, pull_request, job_url, filepath, failures
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default IN (true, false) AND test_id = {test_id: UUID}
  AND finished_at >= fromUnixTimestamp64Milli({start_ms: Int64}, 'UTC')
  AND finished_at < fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC')
  AND (empty({branches: Array(String)}) OR branch IN {branches: Array(String)})
  AND (empty({pipelines: Array(String)}) OR pipeline_name IN {pipelines: Array(String)})
  AND (empty({jobs: Array(String)}) OR job_name IN {jobs: Array(String)})
  AND (empty({commits: Array(String)}) OR commit_sha IN {commits: Array(String)})
  AND (empty({pulls: Array(UInt32)}) OR pull_request IN {pulls: Array(UInt32)})
  AND (empty({statuses: Array(String)}) OR status IN {statuses: Array(String)})
  AND (NOT {has_failed: Bool} OR failures > 0 OR status = 'failed')
  AND (empty({axis_names: Array(String)})
    OR arrayAll(name -> has({axis_pairs: Array(String)}, concat(name, ':', JSONExtractString(toString(axes), name))),
      {axis_names: Array(String)}))
  AND ({is_first: Bool} OR (toUnixTimestamp64Milli(finished_at), execution_id)
    /*beyond*/ > ({key_ms: Int64}, {key_execution: UInt64}))
ORDER BY finished_at /*order*/ ASC, execution_id /*order*/ ASC
LIMIT {rows: UInt32}
