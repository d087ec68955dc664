ALTER TABLE "ci_insights"."health_changes" RENAME COLUMN "commit_sha" TO "began_commit";--> statement-breakpoint
ALTER TABLE "ci_insights"."health_changes" ALTER COLUMN "began_commit" SET DEFAULT '';--> statement-breakpoint
-- It was the commit of the change: where a test recovered, nothing began.
UPDATE "ci_insights"."health_changes" SET "began_commit" = '' WHERE "after" = 'healthy';--> statement-breakpoint
ALTER TABLE "ci_insights"."health_changes" ADD COLUMN "began_execution" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."health_changes" ADD COLUMN "exception_type" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."health_changes" ADD COLUMN "pull_request" integer;--> statement-breakpoint
ALTER TABLE "ci_insights"."tests" ADD COLUMN "first_executions" jsonb DEFAULT '[]'::jsonb NOT NULL;