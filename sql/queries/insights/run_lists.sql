-- A page of each of several lists of a repository's runs that were asked for at the same time and read the same days. Planning
-- takes most of a page's 12 ms of processor time, and 16 pages take 15 ms in one statement. The runs of all lists are read and
-- ordered once; then each goes to the places of the lists that it belongs to. `places` and names of commits, pipelines and
-- branches are pairs; a list without a pair has no such filter.
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
SET param_rows = 4294967295;
SET param_starts_ms = [1795219200000, 1795219200000];
SET param_ends_ms = [1795305600000, 1795305000000];
SET param_keys_ms = [0, 1795300000000];
SET param_key_pipelines = ['', 'CI'];
SET param_key_runs = ['', '1001'];
SET param_key_commits = ['', '1111111111111111111111111111111111111111'];
SET param_commit_places = [2];
SET param_commit_names = ['1111111111111111111111111111111111111111'];
SET param_pipeline_places = [2];
SET param_pipeline_names = ['CI'];
SET param_branch_places = [1];
SET param_branch_names = ['main'];
SET param_page_rows = 11;
SELECT
  place, pipeline_name, run_id, commit_sha, run_branch, run_base_ref, run_pull_request, is_on_default, started_ms, ended_ms,
  jobs, attempts, run_passed, run_failed, run_skipped, failed_jobs
FROM
(
  /*include queries/insights/runs*/
)
ARRAY JOIN arrayFilter(
  (list, start, end, ms, pipeline, run, commit) -> started_ms >= start AND started_ms < end
    AND (started_ms, pipeline_name, run_id, commit_sha) /*beyond*/ > (ms, pipeline, run, commit)
    AND (empty({commit_places: Array(UInt32)}) OR NOT has({commit_places: Array(UInt32)}, list)
      OR has(arrayZip({commit_places: Array(UInt32)}, {commit_names: Array(String)}), (list, commit_sha)))
    AND (empty({pipeline_places: Array(UInt32)}) OR NOT has({pipeline_places: Array(UInt32)}, list)
      OR has(arrayZip({pipeline_places: Array(UInt32)}, {pipeline_names: Array(String)}), (list, pipeline_name)))
    AND (empty({branch_places: Array(UInt32)}) OR NOT has({branch_places: Array(UInt32)}, list)
      OR has(arrayZip({branch_places: Array(UInt32)}, {branch_names: Array(String)}), (list, run_branch))),
  arrayEnumerate({starts_ms: Array(Int64)}), {starts_ms: Array(Int64)}, {ends_ms: Array(Int64)}, {keys_ms: Array(Int64)},
  {key_pipelines: Array(String)}, {key_runs: Array(String)}, {key_commits: Array(String)}) AS place
LIMIT {page_rows: UInt32} BY place
