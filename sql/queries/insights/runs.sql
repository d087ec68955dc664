-- One page of a repository's runs: what a pipeline ran for a commit, by when it began. The days of the window are read, and
-- one more on either side, because a run may span midnight; a filter by commit goes through the bloom filter.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_start_ms = 1795219200000;
SET param_end_ms = 1795305600000;
SET param_commits = [];
SET param_pipelines = [];
SET param_branches = [];
SET param_axis_names = [];
SET param_axis_pairs = [];
SET param_is_first = true;
SET param_key_ms = 0;
SET param_key_pipeline = '';
SET param_key_run = '';
SET param_key_commit = '';
SET param_rows = 11;
SELECT
  pipeline_name, run_id, commit_sha, max(branch) AS run_branch, max(base_ref) AS run_base_ref,
  max(pull_request) AS run_pull_request, max(on_default) AS is_on_default, toUnixTimestamp64Milli(min(first_at)) AS started_ms,
  toUnixTimestamp64Milli(max(last_at)) AS ended_ms, uniqExact(job_name) AS jobs, max(run_attempt) AS attempts,
  sum(passed) AS run_passed, sum(failed) AS run_failed, sum(skipped) AS run_skipped,
  groupUniqArrayIf(CAST((toUInt16(day), job_name, axes, run_attempt),
    'Tuple(day UInt16, job String, axes String, attempt UInt32)'), on_default AND failed > 0) AS failed_jobs
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND day >= toDate(fromUnixTimestamp64Milli(greatest({start_ms: Int64}, 86400000), 'UTC'), 'UTC') - 1
  AND day <= toDate(fromUnixTimestamp64Milli({end_ms: Int64}, 'UTC'), 'UTC') + 1
  AND (empty({commits: Array(String)}) OR commit_sha IN {commits: Array(String)})
  AND (empty({pipelines: Array(String)}) OR pipeline_name IN {pipelines: Array(String)})
  AND (empty({axis_names: Array(String)})
    OR arrayAll(name -> has({axis_pairs: Array(String)}, concat(name, ':', JSONExtractString(axes, name))),
      {axis_names: Array(String)}))
GROUP BY pipeline_name, run_id, commit_sha
HAVING started_ms >= {start_ms: Int64} AND started_ms < {end_ms: Int64}
  AND (empty({branches: Array(String)}) OR run_branch IN {branches: Array(String)})
  AND ({is_first: Bool} OR (started_ms, pipeline_name, run_id, commit_sha)
    /*beyond*/ > ({key_ms: Int64}, {key_pipeline: String}, {key_run: String}, {key_commit: String}))
ORDER BY started_ms /*order*/ ASC, pipeline_name /*order*/ ASC, run_id /*order*/ ASC, commit_sha /*order*/ ASC
LIMIT {rows: UInt32}
