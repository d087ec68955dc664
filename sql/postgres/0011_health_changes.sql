CREATE TABLE "ci_insights"."health_changes" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"execution_id" text NOT NULL,
	"commit_sha" text NOT NULL,
	"before" text NOT NULL,
	"after" text NOT NULL,
	CONSTRAINT "health_changes_repository_id_test_id_pipeline_name_job_name_at_ms_execution_id_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","at_ms","execution_id")
);
