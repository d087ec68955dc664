-- Both come with PostgreSQL, and need no superuser: they index names by their letters, within a repository.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS btree_gin;--> statement-breakpoint
CREATE TABLE "ci_insights"."failure_groups" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"months" text NOT NULL,
	"last_ms" bigint NOT NULL,
	"last_execution" text NOT NULL,
	"last_attempt" integer NOT NULL,
	"exception_type" text NOT NULL,
	"exception_message" text NOT NULL,
	CONSTRAINT "failure_groups_repository_id_test_id_failure_id_pk" PRIMARY KEY("repository_id","test_id","failure_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."health_checkpoints" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"baseline" text DEFAULT '' NOT NULL,
	"older" text DEFAULT '' NOT NULL,
	"newer" text NOT NULL,
	CONSTRAINT "health_checkpoints_repository_id_test_id_pipeline_name_job_name_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."identities" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"name_start" text NOT NULL,
	"executions" bigint NOT NULL,
	"health" text NOT NULL,
	"summary" text NOT NULL,
	"fold" text NOT NULL,
	CONSTRAINT "identities_repository_id_test_id_pipeline_name_job_name_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."tests" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"name" text NOT NULL,
	"first_failed_at" timestamp with time zone,
	"first_failed_execution" text,
	"first_failed_commit" text,
	"flaky_days" jsonb DEFAULT '[]'::jsonb NOT NULL,
	CONSTRAINT "tests_repository_id_test_id_pk" PRIMARY KEY("repository_id","test_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."upgrades" (
	"name" text PRIMARY KEY NOT NULL,
	"position" text,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
ALTER TABLE "ci_insights"."ingest_blocks" ADD COLUMN "counted_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "identities_executions" ON "ci_insights"."identities" USING btree ("repository_id","executions" DESC NULLS FIRST,"name_start" collate "C");--> statement-breakpoint
CREATE INDEX "tests_name" ON "ci_insights"."tests" USING gin ("repository_id","name" gin_trgm_ops) WITH (gin_pending_list_limit=512);--> statement-breakpoint
-- A version that does not know the state of tests evaluates blocks without counting them. They stay unevaluated until this
-- version counts them.
CREATE FUNCTION ci_insights.keep_uncounted_block() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RETURN NULL; END';--> statement-breakpoint
CREATE TRIGGER uncounted_blocks_stay BEFORE UPDATE OF evaluated_at ON "ci_insights"."ingest_blocks"
FOR EACH ROW WHEN (OLD.evaluated_at IS NULL AND NEW.evaluated_at IS NOT NULL AND NEW.counted_at IS NULL)
EXECUTE FUNCTION ci_insights.keep_uncounted_block();
--> statement-breakpoint
-- Room beside a test for the next version of its row: then a new first failure does not touch the index of names.
ALTER TABLE "ci_insights"."tests" SET (fillfactor = 70);
