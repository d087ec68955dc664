-- Health of repositories whose default branch is another one now: it is folded from what is retained of that branch.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
ALTER TABLE ci.health DELETE WHERE repository_id IN {repository_ids: Array(UUID)} SETTINGS mutations_sync = 2
