-- How long an execution on the default branch takes on average, lately. Reads the whole repository, so its answer is kept.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_since_ms = 1794700800000;
SELECT if(count() = 0, 0, avg(duration_s)) AS mean_s
FROM ci.executions
WHERE repository_id = {repository_id: UUID} AND on_default
  AND finished_at >= fromUnixTimestamp64Milli({since_ms: Int64}, 'UTC') AND status != 'skipped'
