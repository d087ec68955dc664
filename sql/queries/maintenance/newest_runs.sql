-- When the newest execution of each repository finished, on any branch. The first column of the key is the repository.
SET param_is_all = false;
SET param_repository_id = '5beeaeba-a982-5c8b-8869-7caf1b9175bf';
SELECT repository_id, toUnixTimestamp64Milli(max(last_at)) AS newest_ms
FROM ci.commit_runs
WHERE {is_all: Bool} OR repository_id = {repository_id: UUID}
GROUP BY repository_id
