-- The newest UTC day on which something ran on the default branch of a repository. The day follows the repository in the key.
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT toUInt16(max(day)) AS day
FROM ci.runs
WHERE repository_id = {repository_id: UUID}
HAVING count() > 0
