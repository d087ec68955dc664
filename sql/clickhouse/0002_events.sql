-- The event log. The key serves the only kind of read: the newest events of one repository in a window. Replacing, because
-- after PostgreSQL is restored from a backup, the events that were on their way then are sent again, past the deduplication
-- window; reads do not wait for the merge that drops such a repeat (sql/queries/events/log.sql). Monthly partitions leave
-- together with the executions of their month. The bloom filters serve filters by pull request and by branch in a log of
-- millions.
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
  INDEX pull_requests pull_request TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX base_refs base_ref TYPE bloom_filter(0.01) GRANULARITY 1,
  INDEX types type TYPE set(64) GRANULARITY 1
)
ENGINE = ReplacingMergeTree
PARTITION BY toYYYYMM(received_at)
ORDER BY (repository_id, received_at, id)
SETTINGS index_granularity = 1024, non_replicated_deduplication_window = 10000;
