-- What is acknowledged survives a power loss: the files of a part and its folder are on disk before an insert returns, and those of a
-- merged part before the parts that it replaces are removed (at once, in the embedded engine). docs/operations.md has the cost.
ALTER TABLE ci.executions MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.failures MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.catalog MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.first_failures MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.flaky_verdicts MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.health MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.runs MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.troubled_runs MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

ALTER TABLE ci.events MODIFY SETTING fsync_after_insert = 1, fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;
