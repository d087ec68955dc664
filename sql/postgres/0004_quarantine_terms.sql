DROP INDEX "ci_insights"."quarantines_once";--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "pipeline_name" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "job_name" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "failure_ids" uuid[];--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "narrowing" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "expires_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "announced_expiry" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "owner" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."quarantines" ADD COLUMN "ticket_url" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."repositories" ADD COLUMN "quarantine_limit" integer;--> statement-breakpoint
ALTER TABLE "ci_insights"."repositories" ADD COLUMN "quarantine_limit_reached" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."repositories" ADD COLUMN "quarantine_warning_days" integer DEFAULT 3 NOT NULL;--> statement-breakpoint
CREATE UNIQUE INDEX "quarantines_once_per_scope" ON "ci_insights"."quarantines" USING btree ("repository_id","test_id",coalesce("branch", ''),"narrowing") WHERE "ci_insights"."quarantines"."removed_at" is null;--> statement-breakpoint
CREATE INDEX "quarantines_expiry" ON "ci_insights"."quarantines" USING btree ("expires_at") WHERE "ci_insights"."quarantines"."removed_at" is null and "ci_insights"."quarantines"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "quarantines_unannounced" ON "ci_insights"."quarantines" USING btree ("expires_at") WHERE "ci_insights"."quarantines"."removed_at" is null and "ci_insights"."quarantines"."expires_at" is not null and "ci_insights"."quarantines"."announced_expiry" is distinct from "ci_insights"."quarantines"."expires_at";