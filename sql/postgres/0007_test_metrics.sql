ALTER TABLE "ci_insights"."identities" ADD COLUMN "confidence" smallint DEFAULT 1 NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."identities" ADD COLUMN "impact" smallint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."identities" ADD COLUMN "failed" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."identities" ADD COLUMN "failed_ppm" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."identities" ADD COLUMN "last_failed_ms" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "identities_unhealthy" ON "ci_insights"."identities" USING btree ("repository_id","health") WHERE "ci_insights"."identities"."health" <> 'healthy';