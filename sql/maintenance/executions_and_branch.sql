-- Executions, with whether they belong to the current default branch of their repository: isOnDefaultBranch
-- (src/domain/default-branch.ts) in SQL; a test compares the two. `on_default` is how they are stored.
SET param_is_every_month = false;
SET param_month = 202611;
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
SET param_branches = ['main'];
SELECT
  *,
  branch != '' AND base_ref = '' AND pull_request = 0
    AND NOT match(branch, '^(gh-readonly-queue|mergify/merge-queue)/')
    AND branch = transform(toString(repository_id), {repository_ids: Array(String)}, {branches: Array(String)}, '')
    AS is_of_default_branch
FROM ci.executions
WHERE {is_every_month: Bool} OR toYYYYMM(finished_at) = {month: UInt32}
