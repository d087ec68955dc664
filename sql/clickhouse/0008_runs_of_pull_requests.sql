-- The runs of a pull request are few, and anywhere in the days of a repository. The index leads to them; parts of older
-- versions get theirs in the background.
ALTER TABLE ci.commit_runs ADD INDEX IF NOT EXISTS pull_requests pull_request TYPE bloom_filter(0.01) GRANULARITY 1;
ALTER TABLE ci.commit_runs MATERIALIZE INDEX pull_requests;
