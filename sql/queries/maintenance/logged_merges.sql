-- The merges that the event log has, by repository: reconcile notes them with the pull requests again. Reads the whole log, by the
-- index of types.
SELECT repository_id, groupUniqArray(assumeNotNull(pull_request)) AS numbers
FROM ci.events
WHERE type = 'action.merge' AND pull_request IS NOT NULL
GROUP BY repository_id
