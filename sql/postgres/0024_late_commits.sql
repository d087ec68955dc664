CREATE TABLE "ci_insights"."late_commits" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	CONSTRAINT "late_commits_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
