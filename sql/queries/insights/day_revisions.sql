-- A number for each day of a window that is another one as soon as more is known of a run of that day: what was read of the day
-- is valid until then. Each row has executions, and merging rows adds them up: so merging alone never changes it. `runs` are rows:
-- one for most runs, and more until they are merged. The day leads the key, so only these days are read: 300,000 runs take 50 ms
-- of processor time, and to put them together 230.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_first_day = 20778;
SET param_last_day = 20779;
SELECT
  toUInt16(day) AS day_number, count() AS runs,
  toString(sum(cityHash64(commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default)
    * (passed + failed + skipped))) AS revision
FROM ci.commit_runs
WHERE repository_id = {repository_id: UUID}
  AND toUInt16(day) >= {first_day: UInt16} AND toUInt16(day) <= {last_day: UInt16}
GROUP BY day
