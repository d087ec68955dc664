-- The newest execution in the baselines of a repository, in milliseconds; 0 if there is none. FINAL, because only the newest fold of
-- each identity counts.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT max(JSONExtractInt(baseline, 'at', 'finishedAt')) AS newest_at_ms
FROM ci.health FINAL
WHERE repository_id = {repository_id: UUID}
