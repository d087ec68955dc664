-- The verdicts that come with the block's executions. To add one that is stored changes nothing: it replaces itself.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT *
FROM
(
  /*include derived/flaky_verdicts*/
)
WHERE test_id IN (SELECT arrayJoin(e_test_id) FROM ci.repair)
  AND execution_id IN (SELECT arrayJoin(e_execution_id) FROM ci.repair)
