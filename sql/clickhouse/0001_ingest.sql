-- Executions and everything derived from them. A semicolon at the end of a line ends a statement; every statement is safe
-- to run twice. `ci` is the only database. It is Atomic, so that tables are swapped and dropped without waiting.
CREATE DATABASE IF NOT EXISTS ci ENGINE = Atomic;

-- One row per chunk, with columns as arrays. The Null engine stores nothing: views fill the other tables, all under the one
-- deduplication token of the insert, so that replaying a block changes none of them.
CREATE TABLE IF NOT EXISTS ci.ingest
(
  repository_id UUID,
  on_default Bool,
  pipeline_name String,
  job_name String,
  run_id String,
  run_attempt UInt32,
  commit_sha String,
  branch String,
  base_ref String,
  pull_request UInt32,
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
  e_failures Array(UInt16),
  f_index Array(UInt32),
  f_attempt Array(UInt16),
  f_failure_id Array(UUID),
  f_exception_type Array(String),
  f_exception_message Array(String),
  f_stacktrace Array(String)
)
ENGINE = Null;

-- The raw table: everything that was reported. The key serves every read of one test over a window (statistics, executions,
-- ratios, the history for the evaluation). `on_default` precedes the test because insights cover the default branch only.
-- Small granules, because such a read wants a few hundred rows rather than 8,192. Monthly partitions: few parts, and a
-- month leaves in one step when its retention ends. Only a rebuild reads the columns after `pull_request`.
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
  run_id String CODEC(ZSTD(1)),
  run_attempt UInt32,
  commit_sha String CODEC(ZSTD(1)),
  branch String CODEC(ZSTD(1)),
  base_ref String CODEC(ZSTD(1)),
  pull_request UInt32 CODEC(ZSTD(1)),
  test_name String CODEC(ZSTD(1)),
  filepath String CODEC(ZSTD(1)),
  function String CODEC(ZSTD(1)),
  framework LowCardinality(String),
  framework_version LowCardinality(String),
  language LowCardinality(String),
  job_url String CODEC(ZSTD(1)),
  failures UInt16
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(finished_at)
ORDER BY (repository_id, on_default, test_id, finished_at, execution_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

-- One row per failed attempt, with its texts. The key serves the groups of a test and the newest failures of a group.
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
  filepath String CODEC(ZSTD(1)),
  language LowCardinality(String),
  job_url String CODEC(ZSTD(1))
)
ENGINE = MergeTree
PARTITION BY toYYYYMM(failed_at)
ORDER BY (repository_id, on_default, test_id, failure_id, failed_at, execution_id, attempt)
SETTINGS index_granularity = 256, non_replicated_deduplication_window = 10000;

-- One row per month and identity (test, pipeline, CI job) seen on the default branch. By month, so that a total leaves
-- together with the executions it counts. `last` works like argMax without a state, because the greatest tuple is the one
-- with the latest time.
CREATE TABLE IF NOT EXISTS ci.catalog
(
  repository_id UUID,
  test_id UUID,
  pipeline_name String,
  job_name String,
  month Date,
  test_name SimpleAggregateFunction(anyLast, String) CODEC(ZSTD(1)),
  executions SimpleAggregateFunction(sum, UInt64),
  last_success_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  last_failure_at SimpleAggregateFunction(max, DateTime64(3, 'UTC')),
  last SimpleAggregateFunction(max, Tuple(
    finished_at DateTime64(3, 'UTC'), execution_id UInt64, status Enum8('passed' = 1, 'failed' = 2, 'skipped' = 3),
    framework String, framework_version String, language String, filepath String, function String))
)
ENGINE = AggregatingMergeTree
PARTITION BY month
ORDER BY (repository_id, test_id, pipeline_name, job_name, month)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

-- The earliest failure ever stored of each test on the default branch. It outlives retention, so there are no partitions to
-- drop.
CREATE TABLE IF NOT EXISTS ci.first_failures
(
  repository_id UUID,
  test_id UUID,
  first SimpleAggregateFunction(min, Tuple(
    failed_at DateTime64(3, 'UTC'), execution_id UInt64, commit_sha String, pull_request UInt32))
)
ENGINE = AggregatingMergeTree
ORDER BY (repository_id, test_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

-- Which executions of the default branch are flaky. Version 0 comes with the execution (flagged by its source, or passed
-- after failed attempts). The evaluation adds and retracts verdicts under versions that it draws from PostgreSQL, each
-- higher than the last.
CREATE TABLE IF NOT EXISTS ci.flaky_verdicts
(
  repository_id UUID,
  test_id UUID,
  finished_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1)),
  execution_id UInt64,
  is_flaky Bool,
  rule LowCardinality(String),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
PARTITION BY toYYYYMM(finished_at)
ORDER BY (repository_id, test_id, finished_at, execution_id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

-- The health of each identity and its fold at two places: a checkpoint some hours back, from which
-- it continues, and the baseline at the end of the newest month that has left, from which it can start over. Outlives
-- retention.
CREATE TABLE IF NOT EXISTS ci.health
(
  repository_id UUID,
  test_id UUID,
  pipeline_name String,
  job_name String,
  health Enum8('healthy' = 1, 'flaky' = 2, 'broken' = 3),
  newest_at DateTime64(3, 'UTC'),
  checkpoint String CODEC(ZSTD(1)),
  baseline String CODEC(ZSTD(1)),
  version UInt64
)
ENGINE = ReplacingMergeTree(version)
ORDER BY (repository_id, test_id, pipeline_name, job_name)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_executions TO ci.executions AS
SELECT
  repository_id, on_default, test_id, fromUnixTimestamp64Milli(finished_ms, 'UTC') AS finished_at, execution_id,
  status, is_flaky, is_quarantined, is_retried, is_time_replaced, duration_s, pipeline_name, job_name, run_id,
  run_attempt, commit_sha, branch, base_ref, pull_request, test_name, filepath, function, framework,
  framework_version, language, job_url, failures
FROM ci.ingest
ARRAY JOIN
  e_execution_id AS execution_id, e_test_id AS test_id, e_test_name AS test_name, e_status AS status,
  e_duration_s AS duration_s, e_finished_ms AS finished_ms, e_filepath AS filepath, e_function AS function,
  e_is_flaky AS is_flaky, e_is_quarantined AS is_quarantined, e_is_retried AS is_retried,
  e_is_time_replaced AS is_time_replaced, e_failures AS failures;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_failures TO ci.failures AS
SELECT
  repository_id, on_default, e_test_id[i + 1] AS test_id, failure_id,
  fromUnixTimestamp64Milli(e_finished_ms[i + 1], 'UTC') AS failed_at, e_execution_id[i + 1] AS execution_id, attempt,
  exception_type, exception_message, stacktrace, e_filepath[i + 1] AS filepath, language, job_url
FROM ci.ingest
ARRAY JOIN
  f_index AS i, f_attempt AS attempt, f_failure_id AS failure_id, f_exception_type AS exception_type,
  f_exception_message AS exception_message, f_stacktrace AS stacktrace;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_catalog TO ci.catalog AS
SELECT
  repository_id, test_id, pipeline_name, job_name,
  toStartOfMonth(toDate(fromUnixTimestamp64Milli(finished_ms, 'UTC'), 'UTC')) AS month,
  anyLast(name) AS test_name,
  count() AS executions,
  maxIf(fromUnixTimestamp64Milli(finished_ms, 'UTC'), status = 'passed') AS last_success_at,
  maxIf(fromUnixTimestamp64Milli(finished_ms, 'UTC'), status = 'failed') AS last_failure_at,
  max((fromUnixTimestamp64Milli(finished_ms, 'UTC'), execution_id, status, framework, framework_version, language,
    path, fn)) AS last
FROM ci.ingest
ARRAY JOIN
  e_execution_id AS execution_id, e_test_id AS test_id, e_test_name AS name, e_status AS status,
  e_finished_ms AS finished_ms, e_filepath AS path, e_function AS fn
WHERE on_default
GROUP BY repository_id, test_id, pipeline_name, job_name, month;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_first_failures TO ci.first_failures AS
SELECT
  repository_id, test_id,
  min((fromUnixTimestamp64Milli(finished_ms, 'UTC'), execution_id, commit_sha, pull_request)) AS first
FROM ci.ingest
ARRAY JOIN
  e_execution_id AS execution_id, e_test_id AS test_id, e_status AS status, e_finished_ms AS finished_ms
WHERE on_default AND status = 'failed'
GROUP BY repository_id, test_id;

CREATE MATERIALIZED VIEW IF NOT EXISTS ci.ingest_to_flaky_verdicts TO ci.flaky_verdicts AS
SELECT
  repository_id, test_id, fromUnixTimestamp64Milli(finished_ms, 'UTC') AS finished_at, execution_id,
  true AS is_flaky, 'within_run' AS rule, 0 AS version
FROM ci.ingest
ARRAY JOIN
  e_execution_id AS execution_id, e_test_id AS test_id, e_status AS status, e_is_flaky AS flaky, e_finished_ms AS finished_ms
WHERE on_default AND flaky AND status != 'skipped';
