-- The state of tests is in PostgreSQL. Nothing fills these tables any more; they stay for processes of an older version that
-- still run during the upgrade. The next version drops them.
DROP VIEW IF EXISTS ci.ingest_to_catalog SYNC;

DROP VIEW IF EXISTS ci.ingest_to_first_failures SYNC;
