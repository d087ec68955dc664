-- The runs of a month, as sql/derived/runs.sql defines them.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SET param_month = 202611;
SELECT * FROM
(
  /*include derived/runs*/
)
WHERE toYYYYMM(day) = {month: UInt32}
