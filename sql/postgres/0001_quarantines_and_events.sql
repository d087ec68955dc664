CREATE SEQUENCE "ci_insights"."event_ids" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
-- From the microsecond of the migration on: above every id of an event log that outlived its PostgreSQL.
SELECT setval('ci_insights.event_ids', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);--> statement-breakpoint
CREATE TABLE "ci_insights"."event_batches" (
	"batch_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ci_insights"."event_batches_batch_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"event_ids" bigint[] NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."event_keys" (
	"key" uuid PRIMARY KEY NOT NULL,
	"taken_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."event_outbox" (
	"id" bigint PRIMARY KEY DEFAULT nextval('ci_insights.event_ids') NOT NULL,
	"repository_id" uuid NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"type" text NOT NULL,
	"trigger" text NOT NULL,
	"pull_request" integer,
	"base_ref" text,
	"metadata" text NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."quarantines" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"test_name" text NOT NULL,
	"reason" text NOT NULL,
	"branch" text,
	"source" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"is_recovered" boolean DEFAULT false NOT NULL,
	"removed_at" timestamp with time zone,
	"removed_by" text
);
--> statement-breakpoint
ALTER TABLE "ci_insights"."pull_requests" ADD COLUMN "base_ref" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."pull_requests" ADD COLUMN "head_ref" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."pull_requests" ADD COLUMN "head_commit" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."pull_requests" ADD COLUMN "updated_at" timestamp with time zone DEFAULT 'epoch' NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."repositories" ADD COLUMN "quarantine_revision" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."repositories" ADD COLUMN "last_event_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "event_keys_taken" ON "ci_insights"."event_keys" USING btree ("taken_at");--> statement-breakpoint
CREATE INDEX "quarantines_open" ON "ci_insights"."quarantines" USING btree ("repository_id","created_at","id") WHERE "ci_insights"."quarantines"."removed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "quarantines_once" ON "ci_insights"."quarantines" USING btree ("repository_id","test_id",coalesce("branch", '')) WHERE "ci_insights"."quarantines"."removed_at" is null;--> statement-breakpoint
CREATE INDEX "quarantines_removed" ON "ci_insights"."quarantines" USING btree ("repository_id","test_id") WHERE "ci_insights"."quarantines"."removed_at" is not null;--> statement-breakpoint
CREATE INDEX "pull_requests_head_ref" ON "ci_insights"."pull_requests" USING btree ("repository_id","head_ref");