ALTER TABLE "ci_insights"."upload_chunks" ADD COLUMN "run_key" uuid;--> statement-breakpoint
ALTER TABLE "ci_insights"."upload_chunks" ADD COLUMN "job_name" text;--> statement-breakpoint
ALTER TABLE "ci_insights"."upload_chunks" ADD COLUMN "run_attempt" integer;--> statement-breakpoint
CREATE INDEX "upload_chunks_run" ON "ci_insights"."upload_chunks" USING btree ("run_key");