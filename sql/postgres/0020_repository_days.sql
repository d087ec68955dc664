CREATE TABLE "ci_insights"."repository_days" (
	"repository_id" uuid NOT NULL,
	"day" integer NOT NULL,
	"healthy" integer NOT NULL,
	"flaky" integer NOT NULL,
	"broken" integer NOT NULL,
	"failures" integer NOT NULL,
	CONSTRAINT "repository_days_repository_id_day_pk" PRIMARY KEY("repository_id","day")
);
--> statement-breakpoint
ALTER TABLE "ci_insights"."repository_counts" ADD COLUMN "newest_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
-- No release has the table yet, so none misses these columns.
ALTER TABLE "ci_insights"."repository_counts" DROP COLUMN "changes";--> statement-breakpoint
ALTER TABLE "ci_insights"."repository_counts" DROP COLUMN "counted";