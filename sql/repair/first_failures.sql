-- The first failures of the block's tests. To add one that is stored changes nothing: the earliest counts.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT *
FROM
(
  /*include derived/first_failures*/
)
WHERE test_id IN (SELECT arrayJoin(e_test_id) FROM ci.repair)
