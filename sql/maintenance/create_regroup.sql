-- Changed failure groups by message. The table exists only while failures are regrouped.
CREATE TABLE ci.regroup (test_id UUID, from_id UUID, type String, message String, to_id UUID)
ENGINE = MergeTree
ORDER BY (test_id, from_id)
