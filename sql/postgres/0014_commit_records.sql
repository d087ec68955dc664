CREATE TABLE "ci_insights"."commit_records" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"first_ms" bigint NOT NULL,
	"record" text NOT NULL,
	CONSTRAINT "commit_records_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE INDEX "commit_records_first_ms" ON "ci_insights"."commit_records" USING btree ("first_ms");