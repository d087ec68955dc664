-- Tests with a retained failure earlier than the one remembered as the first.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT
  format('test {0} first failed at {1}, but {2} is remembered', toString(test_id), toString(retained), toString(remembered)) AS difference,
  toString(test_id) AS about
FROM
(
  SELECT repository_id, test_id, min(retained_at) AS retained, min(remembered_at) AS remembered
  FROM
  (
    SELECT
      repository_id, test_id, tupleElement(first, 1) AS retained_at, toDateTime64('2100-01-01', 3, 'UTC') AS remembered_at
    FROM
    (
      /*include derived/first_failures*/
    )
    UNION ALL
    SELECT repository_id, test_id, toDateTime64('2100-01-01', 3, 'UTC'), tupleElement(min(first), 1)
    FROM ci.first_failures
    WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
    GROUP BY repository_id, test_id
  )
  GROUP BY repository_id, test_id
)
WHERE remembered > retained
