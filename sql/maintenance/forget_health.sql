-- Deletes the health of repositories whose default branch changed. It is folded again from what is retained of the new one.
SET param_repository_ids = ['5beeaeba-a982-5c8b-8869-7caf1b9175bf'];
ALTER TABLE ci.health DELETE WHERE repository_id IN {repository_ids: Array(UUID)} SETTINGS mutations_sync = 2
