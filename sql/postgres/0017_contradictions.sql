CREATE TABLE "ci_insights"."contradictions" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"commit_sha" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"execution_id" text NOT NULL,
	"failed_ms" bigint NOT NULL,
	"failed_execution_id" text NOT NULL,
	"failed_run" text NOT NULL,
	CONSTRAINT "contradictions_repository_id_test_id_pipeline_name_job_name_commit_sha_at_ms_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","commit_sha","at_ms")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."failed_commits" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"newest_ms" bigint NOT NULL,
	CONSTRAINT "failed_commits_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE INDEX "contradictions_commits" ON "ci_insights"."contradictions" USING btree ("repository_id","commit_sha");--> statement-breakpoint
CREATE INDEX "judged_runs_commits" ON "ci_insights"."judged_runs" USING btree ("repository_id","commit_sha") WHERE "ci_insights"."judged_runs"."commit_sha" <> '';