ALTER TABLE "ci_insights"."ingest_claims" ADD COLUMN "month" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "ci_insights"."ingest_claims" DROP CONSTRAINT "ingest_claims_source_key_block_id_pk";--> statement-breakpoint
ALTER TABLE "ci_insights"."ingest_claims" ADD CONSTRAINT "ingest_claims_source_key_block_id_month_pk" PRIMARY KEY("source_key","block_id","month");--> statement-breakpoint
CREATE INDEX "ingest_claims_month" ON "ci_insights"."ingest_claims" USING brin ("month");
