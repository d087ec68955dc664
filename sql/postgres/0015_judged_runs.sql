CREATE TABLE "ci_insights"."judged_runs" (
	"repository_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"day" integer NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"commit_sha" text NOT NULL,
	"started_ms" bigint NOT NULL,
	"executions" integer NOT NULL,
	"unexpected" uuid[] NOT NULL,
	"expected" uuid[] NOT NULL,
	"unexpected_count" integer NOT NULL,
	"meaning" text,
	CONSTRAINT "judged_runs_repository_id_pipeline_name_job_name_day_run_id_run_attempt_commit_sha_pk" PRIMARY KEY("repository_id","pipeline_name","job_name","day","run_id","run_attempt","commit_sha")
);
--> statement-breakpoint
ALTER TABLE "ci_insights"."identities" ADD COLUMN "belief" text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX "judged_runs_started" ON "ci_insights"."judged_runs" USING btree ("repository_id","started_ms");