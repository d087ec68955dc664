-- Troubled runs of a repository since a UTC day. FINAL, because only the newest judgement of each run counts.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_day = 20700;
SELECT toUInt16(day) AS day_number, pipeline_name, job_name, run_id, run_attempt, trouble
FROM ci.troubled_runs FINAL
WHERE repository_id = {repository_id: UUID} AND day >= CAST({day: UInt16}, 'Date') AND trouble != 'none'
