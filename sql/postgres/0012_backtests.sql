CREATE TABLE "ci_insights"."backtests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"policy" text NOT NULL,
	"replayed" integer DEFAULT 0 NOT NULL,
	"tests" integer DEFAULT 0 NOT NULL,
	"finished_at" timestamp with time zone,
	"report" text,
	"failure" text
);
--> statement-breakpoint
CREATE UNIQUE INDEX "backtests_open" ON "ci_insights"."backtests" USING btree ("repository_id") WHERE "ci_insights"."backtests"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "backtests_finished" ON "ci_insights"."backtests" USING btree ("finished_at");