-- Test identities by name, from the catalog. The catalog has one row per month and identity, so totals are summed. A name without
-- wildcards is looked up by its id, to which the key leads as long as the condition has no pattern (has_patterns is a constant to the
-- planner). Patterns are matched against all names of the repository. The first one is a LIKE with a constant, which takes 25 ms on
-- 75,000 identities. The others are matched by looking for the texts between their wildcards one after another, which takes a
-- microsecond for a name and a pattern at most; as an array of LIKE patterns, each would be compiled again for each name. Those with
-- `?` are one regular expression.
-- k0 to k3 are the list's order as one ascending tuple (with the count negated for "most first"). It is compared as a whole, so that
-- paging neither repeats nor skips a row.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_test_ids = ['8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'];
SET param_has_patterns = true;
SET param_has_like = true;
SET param_like = 'Cart%';
SET param_has_texts = true;
SET param_prefixes = ['', 'a'];
SET param_suffixes = ['totals', ''];
SET param_inner = ['b', 'c'];
SET param_firsts = [1, 1];
SET param_sizes = [0, 2];
SET param_has_expression = true;
SET param_expression = '(?s)\\A(?:Cart.)\\z';
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
      OR {has_patterns: Bool} AND (
        {has_like: Bool} AND test_name LIKE {like: String}
        OR {has_expression: Bool} AND match(test_name, {expression: String})
        OR {has_texts: Bool} AND arrayExists(
          (prefix, suffix, texts) -> startsWith(test_name, prefix) AND endsWith(test_name, suffix)
            AND (arrayFold(
              (place, text) -> if(place = 0 OR (position(test_name, text, place) AS found) = 0, 0, found + length(text)),
              texts, toUInt64(length(prefix) + 1)) AS end) > 0
            AND end + length(suffix) <= length(test_name) + 1,
          {prefixes: Array(String)}, {suffixes: Array(String)},
          arrayMap((first, size) -> arraySlice({inner: Array(String)}, first, size), {firsts: Array(UInt32)}, {sizes: Array(UInt32)}))))
    AND (empty({pipelines: Array(String)}) OR pipeline_name IN {pipelines: Array(String)})
    AND pipeline_name NOT IN {pipelines_excluded: Array(String)}
    AND (empty({jobs: Array(String)}) OR job_name IN {jobs: Array(String)})
    AND job_name NOT IN {jobs_excluded: Array(String)}
  GROUP BY test_id, pipeline_name, job_name
)
WHERE {is_first: Bool} OR (k0, k1, k2, k3) /*beyond*/ > ({k0: Int64}, {k1: String}, {k2: String}, {k3: String})
ORDER BY k0 /*order*/ ASC, k1 /*order*/ ASC, k2 /*order*/ ASC, k3 /*order*/ ASC
LIMIT {rows: UInt32}
