-- Failures of the block that are not stored. Equal ones of an execution are counted: nothing else tells them apart.
SELECT made.* EXCEPT (nth)
FROM
(
  SELECT *, row_number() OVER (
    PARTITION BY repository_id, execution_id, attempt, failure_id, exception_type, exception_message, stacktrace
  ) AS nth
  FROM ci.repair_failures
) AS made
LEFT JOIN
(
  SELECT repository_id, execution_id, attempt, failure_id, exception_type, exception_message, stacktrace, count() AS times
  FROM ci.failures
  WHERE repository_id IN (SELECT repository_id FROM ci.repair) AND test_id IN (SELECT arrayJoin(e_test_id) FROM ci.repair)
    AND execution_id IN (SELECT arrayJoin(e_execution_id) FROM ci.repair)
  GROUP BY repository_id, execution_id, attempt, failure_id, exception_type, exception_message, stacktrace
) AS stored USING (repository_id, execution_id, attempt, failure_id, exception_type, exception_message, stacktrace)
WHERE nth > times
