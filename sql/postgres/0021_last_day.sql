DROP INDEX "ci_insights"."identities_unhealthy";--> statement-breakpoint
ALTER TABLE "ci_insights"."tests" ADD COLUMN "last_day" integer;--> statement-breakpoint
CREATE INDEX "identities_unhealthy" ON "ci_insights"."identities" USING btree ("repository_id","health","test_id") WHERE "ci_insights"."identities"."health" <> 'healthy';