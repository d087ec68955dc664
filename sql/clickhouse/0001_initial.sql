-- Executions and everything derived from them, and the event log. A semicolon at the end of a line ends a statement; every
-- statement is safe to run twice. `ci` is the only database. It is Atomic, so that tables are swapped and dropped without
-- waiting.
--
-- What is acknowledged survives a power loss: the files of a part and its folder are on disk before an insert returns, and
-- those of a merged part before the parts that it replaces are removed (at once, in the embedded engine).
-- docs/operations.md has the cost.
CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic;

-- One row per chunk, with columns as arrays. The Null engine stores nothing: views fill the other tables, all under the one
-- deduplication token of the insert, so that replaying a block changes none of them.
CREATE TABLE IF NOT EXISTS ci.ingest
(
  repository_id UUID,
  on_default Bool,
  pipeline_name String,
  job_name String,
  axes String,
  place String,
  run_id String,
  run_attempt UInt32,
  commit_sha String,
  branch String,
  base_ref String,
  pull_request UInt32,
  is_confined Bool,
  framework String,
  framework_version String,
  language String,
  job_url String,
  e_execution_id Array(UInt64),
  e_test_id Array(UUID),
  e_test_name Array(String),
  e_status Array(Enum8('passed' = 1, 'failed' = 2, 'skipped' = 3)),
  e_duration_s Array(Float64),
  e_finished_ms Array(Int64),
  e_filepath Array(String),
  e_function Array(String),
  e_is_flaky Array(Bool),
  e_is_quarantined Array(Bool),
  e_is_retried Array(Bool),
  e_is_time_replaced Array(Bool),
  e_history_id Array(String),
  e_failures Array(UInt16),
  f_index Array(UInt32),
  f_attempt Array(UInt16),
  f_failure_id Array(UUID),
  f_exception_type Array(String),
  f_exception_message Array(String),
  f_stacktrace Array(String),
  f_attachments Array(String),
  received_ms Int64
)
ENGINE = Null;

-- The raw table: everything that was reported. The key serves every read of one test over a window (statistics, executions,
-- ratios, the history for the evaluation). `on_default` precedes the test because insights cover the default branch only.
-- Monthly partitions: few parts, and a month leaves in one step when its retention ends. Only a rebuild reads the columns
-- between `pull_request` and `received_at`; that tells an explanation as of a moment which executions arrived later.
--
-- Granules and compressed blocks are small, because a read of one test wants a few hundred rows from each part, and unpacks
-- whole blocks. With blocks of 64 KiB, statistics of 64 tests take 64 ms instead of 36 to 40; with smaller ones than these,
-- they gain no more, and executions take 8 % more disk instead of 3 %.
CREATE TABLE IF NOT EXISTS ci.executions
(
  repository_id UUID,
  on_default Bool,
  test_id UUID,
  finished_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  execution_id UInt64,
  status Enum8('passed' = 1, 'failed' = 2, 'skipped' = 3),
  is_flaky Bool,
  is_quarantined Bool,
  is_retried Bool,
  is_time_replaced Bool,
  duration_s Float64 CODEC(ZSTD(1)),
  pipeline_name LowCardinality(String),
  job_name LowCardinality(String),
  axes LowCardinality(String),
  place LowCardinality(String),
  run_id String CODEC(ZSTD(1)),
  run_attempt UInt32,
  commit_sha String CODEC(ZSTD(1)),
  branch String CODEC(ZSTD(1)),
  base_ref String CODEC(ZSTD(1)),
  pull_request UInt32 CODEC(ZSTD(1)),
  is_confined Bool,
  test_name String CODEC(ZSTD(1)),
  filepath String CODEC(ZSTD(1)),
  function String CODEC(ZSTD(1)),
  framework LowCardinality(String),
  framework_version LowCardinality(String),
  language LowCardinality(String),
  job_url String CODEC(ZSTD(1)),
  failures UInt16,
  history_hash UInt64 CODEC(ZSTD(1)),
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(finished_at)
ORDER BY (repository_id, on_default, test_id, finished_at, execution_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1,
  fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1, min_compress_block_size = 16384,
  max_compress_block_size = 65536;

-- One row per failed attempt, with its texts and links to its attachments (JSON; empty without any, as almost all are, which
-- takes no room). The key serves the groups of a test and the newest failures of a group.
CREATE TABLE IF NOT EXISTS ci.failures
(
  repository_id UUID,
  on_default Bool,
  test_id UUID,
  failure_id UUID,
  failed_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  execution_id UInt64,
  attempt UInt16,
  exception_type String CODEC(ZSTD(3)),
  exception_message String CODEC(ZSTD(3)),
  stacktrace String CODEC(ZSTD(3)),
  attachments String CODEC(ZSTD(1)),
  filepath String CODEC(ZSTD(1)),
  language LowCardinality(String),
  job_url String CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(failed_at)
ORDER BY (repository_id, on_default, test_id, failure_id, failed_at, execution_id, attempt)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 10000, fsync_after_insert = 1,
  fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- One row per attempt of a leg of a CI job on the default branch, and UTC day: how often it passed and failed. It shows
-- a run in which much fails at once without reading its executions. The day leads the key, because the newest runs are
-- read.
CREATE TABLE IF NOT EXISTS ci.runs
(
  repository_id UUID,
  day Date,
  pipeline_name String,
  job_name String,
  axes String,
  run_id String,
  run_attempt UInt32,
  first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  passed SimpleAggregateFunction(sum, UInt64),
  failed SimpleAggregateFunction(sum, UInt64)
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (repository_id, day, pipeline_name, job_name, axes, run_id, run_attempt)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1,
  fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- One row per attempt of a leg of a CI job on a commit, and UTC day, on any branch: how its tests ended, and which of
-- them failed. It shows the runs of a repository, and leads from a commit to its failures in the raw tables, whose keys
-- begin with the test. The day leads the key, because the newest runs are read; within a day, a commit is one range, which
-- the bloom filter finds. The runs of a pull request are few, and anywhere in the days of a repository: they have a filter,
-- too. Failed tests are kept as ids: hardly any run has many. Each failed execution is there with its test and time
-- (milliseconds since the epoch): what quarantines have excused is read from the failures, and not from among all executions
-- of the quarantined tests.
CREATE TABLE IF NOT EXISTS ci.commit_runs
(
  repository_id UUID,
  day Date,
  commit_sha String,
  pipeline_name String,
  run_id String,
  job_name String,
  axes String,
  run_attempt UInt32,
  on_default Bool,
  branch SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  base_ref SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  pull_request SimpleAggregateFunction(max, UInt32) CODEC(ZSTD(1)),
  job_url SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  place SimpleAggregateFunction(max, String) CODEC(ZSTD(1)),
  first_at SimpleAggregateFunction(min, DateTime64(3, 'UTC')),
  last_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  passed SimpleAggregateFunction(sum, UInt64),
  failed SimpleAggregateFunction(sum, UInt64),
  skipped SimpleAggregateFunction(sum, UInt64),
  failed_tests SimpleAggregateFunction(groupUniqArrayArray, Array(UUID)) CODEC(ZSTD(1)),
  failed_executions SimpleAggregateFunction(groupUniqArrayArray,
    Array(Tuple(test_id UUID, execution_id UInt64, finished_ms Int64))) CODEC(ZSTD(1)),
  INDEX commits commit_sha TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX pull_requests pull_request TYPE bloom_filter(0.01) GRANULARITY 1
)
ENGINE = AggregatingMergeTree
PARTITION BY toYYYYMM(day)
ORDER BY (repository_id, day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1,
  fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- The event log. The key serves the only kind of read: the newest events of one repository in a window. Replacing, because
-- after PostgreSQL is restored from a backup, the events that were on their way then are sent again, past the deduplication
-- window; reads do not wait for the merge that drops such a repeat (sql/queries/events/log.sql). Monthly partitions leave
-- together with the executions of their month. The bloom filters serve filters by pull request and by branch in a log of
-- millions.
--
-- `outcome` is stored as it was written with the event (src/domain/event-metadata.ts). `batch_pull_requests`, which pull requests
-- of a batch an event is about, follows from type and metadata: so it is the default of a column that no insert names. It is
-- stored, because to read the metadata of a long log takes seconds.
CREATE TABLE IF NOT EXISTS ci.events
(
  repository_id UUID,
  received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  id UInt64 CODEC(Delta, ZSTD(1)),
  type LowCardinality(String),
  trigger String CODEC(ZSTD(1)),
  pull_request Nullable(UInt32) CODEC(ZSTD(1)),
  base_ref Nullable(String) CODEC(ZSTD(1)),
  metadata String CODEC(ZSTD(3)),
  outcome LowCardinality(String) CODEC(ZSTD(1)),
  batch_pull_requests Array(UInt32) DEFAULT if(
    startsWith(type, 'action.queue.'),
    arraySort(arrayDistinct(arrayConcat(
      JSONExtract(metadata, 'pull_requests', 'Array(UInt32)'),
      JSONExtract(metadata, 'original_batch_pr_numbers', 'Array(UInt32)'),
      JSONExtract(metadata, 'speculative_check_pull_request', 'pull_request_numbers', 'Array(UInt32)')))),
    []) CODEC(ZSTD(1)),
  INDEX pull_requests pull_request TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX base_refs base_ref TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX types type TYPE set(64) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (repository_id, received_at, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000, fsync_after_insert = 1,
  fsync_part_directory = 1, min_rows_to_fsync_after_merge = 1;

-- Each start and doctor insert a line here twice under one token, through a view and directly, to see that the server drops
-- repeats. No read of the service uses the rows, so a TTL may remove them.
CREATE TABLE IF NOT EXISTS ci.probe_lines
(
  repository_id UUID
)
ENGINE = Null;

CREATE TABLE IF NOT EXISTS ci.probes
(
  repository_id UUID,
  tried_at DateTime('UTC') DEFAULT now()
)
ENGINE = MergeTree
ORDER BY repository_id
TTL tried_at + INTERVAL 1 DAY
SETTINGS non_replicated_deduplication_window = 10000, fsync_after_insert = 1, fsync_part_directory = 1,
  min_rows_to_fsync_after_merge = 1;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.lines_to_probes TO ci.probes AS
SELECT repository_id, now() AS tried_at
FROM ci.probe_lines;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_executions TO ci.executions AS
SELECT
  repository_id, on_default, test_id, fromUnixTimestamp64Milli(finished_ms, 'UTC') AS finished_at, execution_id,
  status, is_flaky, is_quarantined, is_retried, is_time_replaced, duration_s, pipeline_name, job_name, axes,
  place, run_id, run_attempt, commit_sha, branch, base_ref, pull_request, is_confined, test_name, filepath, function,
  framework, framework_version, language, job_url, failures,
  if(history_id = '', 0, sipHash64(history_id)) AS history_hash, fromUnixTimestamp64Milli(received_ms, 'UTC') AS received_at
FROM ci.ingest
ARRAY JOIN
  e_execution_id AS execution_id, e_test_id AS test_id, e_test_name AS test_name, e_status AS status,
  e_duration_s AS duration_s, e_finished_ms AS finished_ms, e_filepath AS filepath, e_function AS function,
  e_is_flaky AS is_flaky, e_is_quarantined AS is_quarantined, e_is_retried AS is_retried,
  e_is_time_replaced AS is_time_replaced, e_failures AS failures, e_history_id AS history_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_failures TO ci.failures AS
SELECT
  repository_id, on_default, e_test_id[i + 1] AS test_id, failure_id,
  fromUnixTimestamp64Milli(e_finished_ms[i + 1], 'UTC') AS failed_at, e_execution_id[i + 1] AS execution_id, attempt,
  exception_type, exception_message, stacktrace, attachments, e_filepath[i + 1] AS filepath, language, job_url
FROM ci.ingest
ARRAY JOIN
  f_index AS i, f_attempt AS attempt, f_failure_id AS failure_id, f_exception_type AS exception_type,
  f_exception_message AS exception_message, f_stacktrace AS stacktrace, f_attachments AS attachments;

-- One row for each day of a chunk, which is almost always one. Counting within the arrays costs half as much as unfolding
-- them.
CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_runs TO ci.runs AS
WITH
  arrayFilter((ms, status) -> status != 'skipped' AND intDiv(ms, 86400000) = day_number, e_finished_ms, e_status) AS times
SELECT
  repository_id, toDate(day_number) AS day, pipeline_name, job_name, axes, run_id, run_attempt,
  fromUnixTimestamp64Milli(arrayMin(times), 'UTC') AS first_at,
  fromUnixTimestamp64Milli(arrayMax(times), 'UTC') AS last_at,
  arrayCount((status, ms) -> status = 'passed' AND intDiv(ms, 86400000) = day_number, e_status, e_finished_ms) AS passed,
  arrayCount((status, ms) -> status = 'failed' AND intDiv(ms, 86400000) = day_number, e_status, e_finished_ms) AS failed
FROM ci.ingest
ARRAY JOIN arrayDistinct(arrayMap(ms -> toUInt16(intDiv(ms, 86400000)), e_finished_ms)) AS day_number
WHERE on_default AND notEmpty(times);

-- One row for each day of a chunk, counted within its arrays.
CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_commit_runs TO ci.commit_runs AS
WITH
  arrayMap(ms -> intDiv(ms, 86400000) = day_number, e_finished_ms) AS is_of_day,
  arrayFilter((ms, is_counted) -> is_counted, e_finished_ms, is_of_day) AS times,
  arrayFilter((execution, status, is_counted) -> is_counted AND status = 'failed',
    arrayZip(e_test_id, e_execution_id, e_finished_ms), e_status, is_of_day) AS failures
SELECT
  repository_id, toDate(day_number) AS day, commit_sha, pipeline_name, run_id, job_name, axes, run_attempt, on_default,
  branch, base_ref, pull_request, job_url, place,
  fromUnixTimestamp64Milli(arrayMin(times), 'UTC') AS first_at,
  fromUnixTimestamp64Milli(arrayMax(times), 'UTC') AS last_at,
  arrayCount((status, is_counted) -> is_counted AND status = 'passed', e_status, is_of_day) AS passed,
  length(failures) AS failed,
  arrayCount((status, is_counted) -> is_counted AND status = 'skipped', e_status, is_of_day) AS skipped,
  arrayDistinct(arrayMap(execution -> execution.1, failures)) AS failed_tests,
  CAST(failures, 'Array(Tuple(test_id UUID, execution_id UInt64, finished_ms Int64))') AS failed_executions
FROM ci.ingest
ARRAY JOIN arrayDistinct(arrayMap(ms -> toUInt16(intDiv(ms, 86400000)), e_finished_ms)) AS day_number;

-- ClickHouse 26 writes the lengths of texts to a separate stream, and statistics of every column with each merge. No read of
-- ours asks for lengths alone, and each finds its rows by the key. Without both, a merge takes a fifth less time, a read of one
-- test 6 to 10 % less, and executions 5 % less disk. An older server has neither setting, and refuses a statement with one that
-- it does not know: so each has its own statement.
ALTER TABLE ci.executions MODIFY SETTING serialization_info_version = 'basic';

ALTER TABLE ci.executions MODIFY SETTING auto_statistics_types = '';

ALTER TABLE ci.failures MODIFY SETTING serialization_info_version = 'basic';

ALTER TABLE ci.failures MODIFY SETTING auto_statistics_types = '';

ALTER TABLE ci.runs MODIFY SETTING serialization_info_version = 'basic';

ALTER TABLE ci.runs MODIFY SETTING auto_statistics_types = '';

ALTER TABLE ci.commit_runs MODIFY SETTING serialization_info_version = 'basic';

ALTER TABLE ci.commit_runs MODIFY SETTING auto_statistics_types = '';

ALTER TABLE ci.events MODIFY SETTING serialization_info_version = 'basic';

ALTER TABLE ci.events MODIFY SETTING auto_statistics_types = '';
