-- What ran on each commit in a month, as sql/derived/commit_runs.sql defines it.
SET param_is_all = true;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_month = 202611;
SELECT * FROM
(
  /*include derived/commit_runs*/
)
WHERE toYYYYMM(day) = {month: UInt32}
