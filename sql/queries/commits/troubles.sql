-- The troubled runs of some UTC days: a range of the key for each. FINAL, because only the newest judgement of each run counts.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_days = [20777];
SELECT toUInt16(day) AS day_number, pipeline_name, job_name, run_id, run_attempt, toString(trouble) AS run_trouble
FROM ci.troubled_runs FINAL
WHERE repository_id = {repository_id: UUID} AND toUInt16(day) IN {days: Array(UInt16)} AND trouble != 'none'
