CREATE TABLE "ci_insights"."repository_counts" (
	"repository_id" uuid PRIMARY KEY NOT NULL,
	"changes" bigint NOT NULL,
	"counted" bigint DEFAULT 0 NOT NULL,
	"tests" integer DEFAULT 0 NOT NULL,
	"flaky" integer DEFAULT 0 NOT NULL,
	"broken" integer DEFAULT 0 NOT NULL
);
--> statement-breakpoint
-- Counted at the next look.
INSERT INTO "ci_insights"."repository_counts" ("repository_id", "changes") SELECT "id", 1 FROM "ci_insights"."repositories";
--> statement-breakpoint
CREATE INDEX "upload_chunks_repository" ON "ci_insights"."upload_chunks" USING btree ("repository_id","received_at","upload_id");--> statement-breakpoint
CREATE INDEX "upload_chunks_rejected" ON "ci_insights"."upload_chunks" USING btree ("received_at","upload_id") WHERE "ci_insights"."upload_chunks"."rejected" > 0;