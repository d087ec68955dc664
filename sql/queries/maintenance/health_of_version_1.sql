-- Where folds can start over whose executions have left, as versions before 0.2.0 stored them.
SELECT repository_id, test_id, pipeline_name, job_name, baseline
FROM ci.health FINAL
WHERE baseline != ''
ORDER BY repository_id, test_id
