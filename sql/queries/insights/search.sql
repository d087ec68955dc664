-- Test identities by name, from the catalog. The catalog has one row per month and identity, so totals are summed. A name without
-- wildcards is looked up by its id, to which the key leads as long as the condition has no pattern (has_patterns is a constant to the
-- planner). Patterns are matched against all names of the repository. The first pattern is separate because LIKE with a constant
-- takes 25 ms on 75,000 identities where a loop over an array takes 32.
-- k0 to k3 are the list's order as one ascending tuple (with the count negated for "most first"). It is compared as a whole, so that
-- paging neither repeats nor skips a row.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_has_patterns = true;
SET param_pattern = 'Cart%';
SET param_more_patterns = ['%totals'];
SET param_is_all = false;
SET param_pipelines = [];
SET param_pipelines_excluded = [];
SET param_jobs = [];
SET param_jobs_excluded = [];
SET param_sort = 'executions_count';
SET param_sign = -1;
SET param_is_first = true;
SET param_k0 = 0;
SET param_k1 = '';
SET param_k2 = '';
SET param_k3 = '';
SET param_rows = 11;
SELECT
  test_id, name, pipeline_name, job_name, executions_count,
  if({sort: String} = 'executions_count', {sign: Int64} * executions_count, 0) AS k0,
  multiIf({sort: String} = 'pipeline_name', pipeline_name, {sort: String} = 'job_name', job_name, name) AS k1,
  if({sort: String} IN ('pipeline_name', 'job_name'), name, pipeline_name) AS k2,
  if({sort: String} = 'job_name', pipeline_name, job_name) AS k3
FROM
(
  SELECT
    test_id, pipeline_name, job_name, anyLast(test_name) AS name, toInt64(sum(executions)) AS executions_count
  FROM ci.catalog
  WHERE repository_id = {repository_id: UUID}
    AND ({is_all: Bool} OR test_id IN {test_ids: Array(UUID)}
      OR {has_patterns: Bool} AND (test_name LIKE {pattern: String}
        OR arrayExists(pattern -> test_name LIKE pattern, {more_patterns: Array(String)})))
    AND (empty({pipelines: Array(String)}) OR pipeline_name IN {pipelines: Array(String)})
    AND pipeline_name NOT IN {pipelines_excluded: Array(String)}
    AND (empty({jobs: Array(String)}) OR job_name IN {jobs: Array(String)})
    AND job_name NOT IN {jobs_excluded: Array(String)}
  GROUP BY test_id, pipeline_name, job_name
)
WHERE {is_first: Bool} OR (k0, k1, k2, k3) /*beyond*/ > ({k0: Int64}, {k1: String}, {k2: String}, {k3: String})
ORDER BY k0 /*order*/ ASC, k1 /*order*/ ASC, k2 /*order*/ ASC, k3 /*order*/ ASC
LIMIT {rows: UInt32}
