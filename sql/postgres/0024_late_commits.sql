CREATE TABLE "ci_insights"."late_commits" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"note_id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "ci_insights"."late_commits_note_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	CONSTRAINT "late_commits_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE INDEX "late_commits_order" ON "ci_insights"."late_commits" USING btree ("repository_id","note_id");