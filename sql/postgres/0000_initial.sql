-- drizzle-kit writes this file from src/postgres/schema.ts, except for what its language cannot say. That is in two places: here
-- and at the end.
-- Both extensions come with PostgreSQL, and need no superuser: they index names by their letters, within a repository.
CREATE EXTENSION IF NOT EXISTS pg_trgm;--> statement-breakpoint
CREATE EXTENSION IF NOT EXISTS btree_gin;--> statement-breakpoint
CREATE SCHEMA "ci_insights";
--> statement-breakpoint
CREATE SEQUENCE "ci_insights"."event_ids" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE SEQUENCE "ci_insights"."event_places" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "ci_insights"."application_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"owner" text,
	"scope" text NOT NULL,
	"repositories" text[],
	"bounds" jsonb,
	"ci_subject" text,
	"ci_token_hash" "bytea",
	"token_hash" "bytea" NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"made_by" text NOT NULL,
	"made_by_key" uuid,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "application_keys_ci_token_hash_unique" UNIQUE("ci_token_hash"),
	CONSTRAINT "application_keys_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"key_id" uuid,
	"actor" text NOT NULL,
	"subject" text,
	"confirmed_at" timestamp with time zone,
	"confirming_since" timestamp with time zone,
	"renewal" "bytea",
	"scope" text NOT NULL,
	"owner" text,
	"repositories" text[],
	"bounds" jsonb,
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "sessions_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."audit" (
	"id" uuid PRIMARY KEY NOT NULL,
	"at" timestamp with time zone NOT NULL,
	"actor_kind" text NOT NULL,
	"actor_name" text NOT NULL,
	"key_id" uuid,
	"session_id" uuid,
	"subject" text,
	"request_id" text,
	"action" text NOT NULL,
	"object_id" text,
	"object_name" text,
	"owner" text,
	"repository" text,
	"before" text,
	"after" text
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."cause_days" (
	"repository_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"day" integer NOT NULL,
	"failures" integer NOT NULL,
	CONSTRAINT "cause_days_repository_id_node_id_test_id_pipeline_name_job_name_axes_day_pk" PRIMARY KEY("repository_id","node_id","test_id","pipeline_name","job_name","axes","day")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."cause_groups" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"frames" text[] NOT NULL,
	"filepath" text NOT NULL,
	CONSTRAINT "cause_groups_repository_id_test_id_failure_id_pk" PRIMARY KEY("repository_id","test_id","failure_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."cause_nodes" (
	"repository_id" uuid NOT NULL,
	"node_id" uuid NOT NULL,
	"cause_id" uuid NOT NULL,
	"signature_id" uuid NOT NULL,
	"exception_type" text NOT NULL,
	"message" text NOT NULL,
	"is_generic" boolean NOT NULL,
	"first_ms" bigint NOT NULL,
	"first_test" uuid NOT NULL,
	"last_ms" bigint NOT NULL,
	"last_test" uuid NOT NULL,
	"last_failure" uuid NOT NULL,
	"failures" integer NOT NULL,
	"was_cause" boolean NOT NULL,
	"words" "tsvector" GENERATED ALWAYS AS (to_tsvector('simple', regexp_replace(exception_type || ' ' || message, '[^[:alnum:]]+', ' ', 'g'))) STORED NOT NULL,
	CONSTRAINT "cause_nodes_repository_id_node_id_pk" PRIMARY KEY("repository_id","node_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."cause_terms" (
	"repository_id" uuid NOT NULL,
	"cause_id" uuid NOT NULL,
	"owner" text,
	"ticket_url" text,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "cause_terms_repository_id_cause_id_pk" PRIMARY KEY("repository_id","cause_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."changed_files" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"paths" text[] NOT NULL,
	"is_confined" boolean NOT NULL,
	"sent_ms" bigint NOT NULL,
	CONSTRAINT "changed_files_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."deleted_repositories" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"owner" text NOT NULL,
	"name" text NOT NULL,
	"deleted_at" timestamp with time zone NOT NULL,
	"deleted_by" text NOT NULL,
	"removed" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."duration_totals" (
	"repository_id" uuid PRIMARY KEY NOT NULL,
	"start_day" integer NOT NULL,
	"end_day" integer NOT NULL,
	"tests" integer NOT NULL,
	"grown" integer NOT NULL,
	"total_us" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."test_durations" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"leg_id" uuid NOT NULL,
	"is_folded" boolean NOT NULL,
	"executions" bigint NOT NULL,
	"median_us" bigint NOT NULL,
	"p95_us" bigint NOT NULL,
	"total_us" bigint NOT NULL,
	"grown_day" integer,
	"before_us" bigint,
	"after_us" bigint,
	"grown_us" bigint,
	"last_commit_before" text,
	"first_commit_after" text,
	CONSTRAINT "test_durations_repository_id_test_id_pipeline_name_job_name_axes_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","axes")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."block_parts" (
	"partition" smallint NOT NULL,
	"block_id" bigint NOT NULL,
	"repository_id" uuid NOT NULL,
	"is_imported" boolean DEFAULT false NOT NULL,
	"executions" integer NOT NULL,
	"bytes" integer NOT NULL,
	"body" "bytea" NOT NULL,
	CONSTRAINT "block_parts_partition_block_id_repository_id_pk" PRIMARY KEY("partition","block_id","repository_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."partitions" (
	"id" smallint PRIMARY KEY NOT NULL,
	"passed_at" timestamp with time zone DEFAULT 'epoch' NOT NULL,
	"import_passed_at" timestamp with time zone DEFAULT 'epoch' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."postponed_repositories" (
	"repository_id" uuid PRIMARY KEY NOT NULL,
	"failures" integer NOT NULL,
	"retry_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."stale" (
	"repository_id" uuid NOT NULL,
	"kind" text NOT NULL,
	"since_ms" bigint,
	"test_ids" uuid[] DEFAULT '{}' NOT NULL,
	"first_block" bigint,
	"is_imported" boolean DEFAULT false NOT NULL,
	"revision" bigint DEFAULT 1 NOT NULL,
	"noted_at" timestamp with time zone,
	"rests_until" timestamp with time zone DEFAULT 'epoch' NOT NULL,
	"known_since" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "stale_repository_id_kind_pk" PRIMARY KEY("repository_id","kind")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."stale_commits" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"is_evidence_stale" boolean NOT NULL,
	"retried_tests" uuid[] DEFAULT '{}' NOT NULL,
	"touched_at" timestamp with time zone NOT NULL,
	CONSTRAINT "stale_commits_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."event_keys" (
	"key" uuid PRIMARY KEY NOT NULL,
	"taken_at" timestamp with time zone NOT NULL,
	"event_id" bigint DEFAULT nextval('ci_insights.event_ids') NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."event_outbox" (
	"id" bigint PRIMARY KEY DEFAULT nextval('ci_insights.event_ids') NOT NULL,
	"repository_id" uuid NOT NULL,
	"received_at" timestamp with time zone NOT NULL,
	"written_at" timestamp with time zone NOT NULL,
	"type" text NOT NULL,
	"trigger" text NOT NULL,
	"pull_request" integer,
	"base_ref" text,
	"outcome" text NOT NULL,
	"metadata" text NOT NULL,
	"place" bigint
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."outbox_consumers" (
	"name" text PRIMARY KEY NOT NULL,
	"position" bigint DEFAULT 0 NOT NULL,
	"batch_end" bigint
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."pull_requests" (
	"repository_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"id" bigint NOT NULL,
	"title" text NOT NULL,
	"author_id" bigint,
	"author_login" text,
	"base_ref" text,
	"head_ref" text,
	"head_commit" text,
	"merge_commit" text,
	"is_merge_logged" boolean DEFAULT false NOT NULL,
	"updated_at" timestamp with time zone DEFAULT 'epoch' NOT NULL,
	CONSTRAINT "pull_requests_repository_id_number_pk" PRIMARY KEY("repository_id","number")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."forgotten_people" (
	"pseudonym" text PRIMARY KEY NOT NULL,
	"name" text,
	"is_for_later" boolean NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"changed" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."forgotten_executions" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"month" integer NOT NULL,
	"ids" "bytea" NOT NULL,
	CONSTRAINT "forgotten_executions_repository_id_test_id_month_pk" PRIMARY KEY("repository_id","test_id","month")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."forgotten_tests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"test_ids" uuid[] NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"requested_by" text NOT NULL,
	"removed" jsonb DEFAULT '{}'::jsonb NOT NULL,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."imports" (
	"path" text PRIMARY KEY NOT NULL,
	"id" uuid NOT NULL,
	"host" text NOT NULL,
	"source" text NOT NULL,
	"since" timestamp with time zone NOT NULL,
	"status" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"started_by" text NOT NULL,
	"seen_at" timestamp with time zone NOT NULL,
	"finished_at" timestamp with time zone,
	"progress" text NOT NULL,
	"receipt" text,
	"failure" text
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."dead_letters" (
	"id" uuid PRIMARY KEY NOT NULL,
	"queue" text NOT NULL,
	"job_id" text NOT NULL,
	"upload_id" uuid,
	"payload" "bytea" NOT NULL,
	"reason" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"replayed_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."ingest_blocks" (
	"block_id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "ci_insights"."ingest_blocks_block_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"shard" smallint NOT NULL,
	"executions" integer NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"stored_at" timestamp with time zone,
	"refused_at" timestamp with time zone,
	"refusal" text,
	"is_closed" boolean DEFAULT false NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."ingest_claims" (
	"source_key" uuid NOT NULL,
	"block_id" bigint NOT NULL,
	"repository_id" uuid NOT NULL,
	"leg" smallint NOT NULL,
	"month" integer NOT NULL,
	"ids" "bytea" NOT NULL,
	"closed" integer,
	CONSTRAINT "ingest_claims_source_key_block_id_leg_month_pk" PRIMARY KEY("source_key","block_id","leg","month")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."refused_uploads" (
	"id" uuid PRIMARY KEY NOT NULL,
	"owner" text NOT NULL,
	"repository" text NOT NULL,
	"kind" uuid NOT NULL,
	"pipeline_name" text,
	"job_name" text,
	"run_id" text,
	"run_attempt" bigint,
	"commit_sha" text,
	"branch" text,
	"pull_request" bigint,
	"format" text,
	"sender" text,
	"reason" text NOT NULL,
	"refusals" integer NOT NULL,
	"refused_at" timestamp with time zone NOT NULL,
	CONSTRAINT "refused_uploads_kind_unique" UNIQUE("kind")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."upload_chunks" (
	"upload_id" uuid NOT NULL,
	"chunk_index" integer NOT NULL,
	"chunk_count" integer NOT NULL,
	"repository_id" uuid NOT NULL,
	"block_id" bigint,
	"received_at" timestamp with time zone NOT NULL,
	"accepted" integer NOT NULL,
	"duplicate" integer NOT NULL,
	"rejected" integer NOT NULL,
	"conflicting" integer NOT NULL,
	"leg" smallint NOT NULL,
	"has_problem" boolean NOT NULL,
	"on_default_branch" integer NOT NULL,
	"run_key" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"commit_sha" text NOT NULL,
	"branch" text NOT NULL,
	"pull_request" bigint NOT NULL,
	"format" text,
	"sender" text,
	"rejections" jsonb NOT NULL,
	"warnings" jsonb NOT NULL,
	"stored_at" timestamp with time zone,
	CONSTRAINT "upload_chunks_upload_id_chunk_index_pk" PRIMARY KEY("upload_id","chunk_index")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."codeowners" (
	"repository_id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"path" text NOT NULL,
	"content" text NOT NULL,
	"files" text NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	"changed_by" text NOT NULL,
	"matched_lines" integer[] DEFAULT '{}' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."owned_tests" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"file" text NOT NULL,
	CONSTRAINT "owned_tests_repository_id_test_id_pk" PRIMARY KEY("repository_id","test_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."test_owners" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"owner" text COLLATE "C" NOT NULL,
	"position" smallint NOT NULL,
	CONSTRAINT "test_owners_repository_id_test_id_owner_pk" PRIMARY KEY("repository_id","test_id","owner")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."pull_comments" (
	"repository_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"commit_sha" text NOT NULL,
	"ran_ms" bigint NOT NULL,
	"revision" bigint DEFAULT 1 NOT NULL,
	"due_at" timestamp with time zone,
	"failures" integer DEFAULT 0 NOT NULL,
	"failure" text,
	"outcome" text,
	"commented_commit" text,
	"written_at" timestamp with time zone,
	CONSTRAINT "pull_comments_repository_id_number_pk" PRIMARY KEY("repository_id","number")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."quarantined_causes" (
	"repository_id" uuid NOT NULL,
	"cause_id" uuid NOT NULL,
	"reason" text NOT NULL,
	"branch" text,
	"expires_at" timestamp with time zone,
	"actor" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	CONSTRAINT "quarantined_causes_repository_id_cause_id_pk" PRIMARY KEY("repository_id","cause_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."quarantines" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"test_name" text NOT NULL,
	"reason" text NOT NULL,
	"branch" text,
	"pipeline_name" text,
	"job_name" text,
	"axes" text,
	"failure_ids" uuid[],
	"cause_id" uuid,
	"narrowing" uuid DEFAULT '00000000-0000-0000-0000-000000000000' NOT NULL,
	"expires_at" timestamp with time zone,
	"announced_expiry" timestamp with time zone,
	"owner" text,
	"ticket_url" text,
	"source" text NOT NULL,
	"is_scope_chosen" boolean NOT NULL,
	"actor" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"is_recovered" boolean DEFAULT false NOT NULL,
	"removed_at" timestamp with time zone,
	"removed_by" text
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."test_renames" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"from_id" uuid NOT NULL,
	"from_name" text NOT NULL,
	"to_id" uuid NOT NULL,
	"to_name" text NOT NULL,
	"state" text NOT NULL,
	"reasons" text[] NOT NULL,
	"confidence" real,
	"first_ms" bigint NOT NULL,
	"proposed_at" timestamp with time zone NOT NULL,
	"decided_at" timestamp with time zone,
	"decided_by" text,
	"is_applied" boolean NOT NULL,
	"tries" integer DEFAULT 0 NOT NULL,
	"failure" text
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."installation" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."repositories" (
	"id" uuid PRIMARY KEY NOT NULL,
	"host" text NOT NULL,
	"owner" text NOT NULL,
	"name" text NOT NULL,
	"default_branch" text,
	"default_branch_source" text,
	"flaky_detection_enabled" boolean DEFAULT true NOT NULL,
	"auto_quarantine" text DEFAULT 'off' NOT NULL,
	"quarantine_limit" integer,
	"quarantine_limit_reached" boolean DEFAULT false NOT NULL,
	"quarantine_warning_days" integer DEFAULT 3 NOT NULL,
	"rerun_percent" integer,
	"test_owners" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"ci_minute_price" double precision,
	"waiting_hour_price" double precision,
	"event_retention_days" integer,
	"rename_confidence_min" double precision,
	"execution_retention_days" integer,
	"executions_since" integer DEFAULT 0 NOT NULL,
	"executions_leaving" integer,
	"forget_tests_after_days" integer,
	"host_kind" text,
	"host_url" text,
	"host_source" text,
	"quarantine_revision" bigint DEFAULT 0 NOT NULL,
	"last_event_at" timestamp with time zone,
	"gate_ran_at" timestamp with time zone,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."upgrades" (
	"name" text PRIMARY KEY NOT NULL,
	"position" text,
	"finished_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."backtests" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"requested_by" text NOT NULL,
	"policy" text NOT NULL,
	"replayed" integer DEFAULT 0 NOT NULL,
	"tests" integer DEFAULT 0 NOT NULL,
	"finished_at" timestamp with time zone,
	"report" text,
	"summary" text,
	"failure" text
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."verifications" (
	"id" uuid PRIMARY KEY NOT NULL,
	"requested_at" timestamp with time zone NOT NULL,
	"compared" integer DEFAULT 0 NOT NULL,
	"repositories" integer DEFAULT 0 NOT NULL,
	"finished_at" timestamp with time zone,
	"report" text,
	"failure" text
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."clues" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"commit_sha" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"execution_id" text NOT NULL,
	"failed_ms" bigint NOT NULL,
	"failed_execution_id" text NOT NULL,
	"failed_run" text NOT NULL,
	"other_legs" text NOT NULL,
	CONSTRAINT "clues_repository_id_test_id_pipeline_name_job_name_axes_commit_sha_at_ms_failed_execution_id_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","axes","commit_sha","at_ms","failed_execution_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."commit_records" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"first_ms" bigint NOT NULL,
	"record" text NOT NULL,
	CONSTRAINT "commit_records_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."failed_commits" (
	"repository_id" uuid NOT NULL,
	"commit_sha" text NOT NULL,
	"newest_ms" bigint NOT NULL,
	CONSTRAINT "failed_commits_repository_id_commit_sha_pk" PRIMARY KEY("repository_id","commit_sha")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."judged_runs" (
	"repository_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"day" integer NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"commit_sha" text NOT NULL,
	"started_ms" bigint NOT NULL,
	"executions" integer NOT NULL,
	"unexpected" uuid[] NOT NULL,
	"expected" uuid[] NOT NULL,
	"again" uuid[] NOT NULL,
	"unexpected_count" integer NOT NULL,
	"meaning" text,
	CONSTRAINT "judged_runs_repository_id_pipeline_name_job_name_axes_day_run_id_run_attempt_commit_sha_pk" PRIMARY KEY("repository_id","pipeline_name","job_name","axes","day","run_id","run_attempt","commit_sha")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."saved_views" (
	"id" uuid PRIMARY KEY NOT NULL,
	"repository_id" uuid NOT NULL,
	"holder" uuid NOT NULL,
	"key_id" uuid,
	"name" text NOT NULL,
	"page" text NOT NULL,
	"query" text NOT NULL,
	"actor" text NOT NULL,
	"created_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."splits" (
	"repository" text NOT NULL,
	"run_key" uuid NOT NULL,
	"list_key" uuid NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"split" text NOT NULL,
	CONSTRAINT "splits_repository_run_key_list_key_pk" PRIMARY KEY("repository","run_key","list_key")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."baselines" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"belief" text NOT NULL,
	"has_run" boolean NOT NULL,
	CONSTRAINT "baselines_repository_id_test_id_pipeline_name_job_name_axes_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","axes")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."failure_groups" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"months" text NOT NULL,
	"last_ms" bigint NOT NULL,
	"last_execution" text NOT NULL,
	"last_attempt" integer NOT NULL,
	"exception_type" text NOT NULL,
	"exception_message" text NOT NULL,
	CONSTRAINT "failure_groups_repository_id_test_id_failure_id_pk" PRIMARY KEY("repository_id","test_id","failure_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."flaky_executions" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"finished_ms" bigint NOT NULL,
	"execution_id" numeric(20, 0) NOT NULL,
	CONSTRAINT "flaky_executions_repository_id_test_id_finished_ms_execution_id_pk" PRIMARY KEY("repository_id","test_id","finished_ms","execution_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."former_groups" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"failure_id" uuid NOT NULL,
	"moved_to" uuid NOT NULL,
	"last_ms" bigint NOT NULL,
	"is_pending" boolean NOT NULL,
	CONSTRAINT "former_groups_repository_id_test_id_failure_id_moved_to_pk" PRIMARY KEY("repository_id","test_id","failure_id","moved_to")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."health_changes" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"at_ms" bigint NOT NULL,
	"run_id" text NOT NULL,
	"run_attempt" bigint NOT NULL,
	"execution_id" text NOT NULL,
	"before" text NOT NULL,
	"after" text NOT NULL,
	"began_execution" text,
	"began_ms" bigint,
	"began_commit" text DEFAULT '' NOT NULL,
	"exception_type" text,
	"pull_request" integer,
	CONSTRAINT "health_changes_repository_id_test_id_pipeline_name_job_name_axes_at_ms_execution_id_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","axes","at_ms","execution_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."identities" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"is_folded" boolean NOT NULL,
	"name_start" text NOT NULL,
	"executions" bigint NOT NULL,
	"day" integer NOT NULL,
	"day_passed" integer NOT NULL,
	"day_failed" integer NOT NULL,
	"days" integer[] NOT NULL,
	"month" integer NOT NULL,
	"month_executions" bigint NOT NULL,
	"month_first_ms" bigint NOT NULL,
	"months" bigint[] NOT NULL,
	"last_success_ms" bigint NOT NULL,
	"last_failure_ms" bigint NOT NULL,
	"newest_ms" bigint NOT NULL,
	"newest" text COLLATE "C" NOT NULL,
	"passes" bigint NOT NULL,
	"pass_ms" bigint NOT NULL,
	"pass_place" text COLLATE "C" NOT NULL,
	CONSTRAINT "identities_repository_id_test_id_pipeline_name_job_name_axes_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","axes")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."job_legs" (
	"repository_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	CONSTRAINT "job_legs_repository_id_pipeline_name_job_name_axes_pk" PRIMARY KEY("repository_id","pipeline_name","job_name","axes")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."suspects" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"pipeline_name" text NOT NULL,
	"job_name" text NOT NULL,
	"axes" text NOT NULL,
	"health" text NOT NULL,
	"confidence" smallint NOT NULL,
	"own_failure_ms" bigint NOT NULL,
	"before" text NOT NULL,
	"after" text NOT NULL,
	"recent" text NOT NULL,
	CONSTRAINT "suspects_repository_id_test_id_pipeline_name_job_name_axes_pk" PRIMARY KEY("repository_id","test_id","pipeline_name","job_name","axes")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."test_listings" (
	"repository_id" uuid NOT NULL,
	"name_start" text COLLATE "C" NOT NULL,
	"test_id" uuid NOT NULL,
	"executions" bigint NOT NULL,
	"identities" integer NOT NULL,
	CONSTRAINT "test_listings_repository_id_name_start_test_id_pk" PRIMARY KEY("repository_id","name_start","test_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."tests" (
	"repository_id" uuid NOT NULL,
	"test_id" uuid NOT NULL,
	"name" text NOT NULL,
	"first_failed_at" timestamp with time zone,
	"first_failed_execution" text,
	"first_failed_commit" text,
	CONSTRAINT "tests_repository_id_test_id_pk" PRIMARY KEY("repository_id","test_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."repository_counts" (
	"repository_id" uuid PRIMARY KEY NOT NULL,
	"tests" integer DEFAULT 0 NOT NULL,
	"flaky" integer DEFAULT 0 NOT NULL,
	"broken" integer DEFAULT 0 NOT NULL,
	"flaky_days" integer[] DEFAULT '{}' NOT NULL,
	"newest_ms" bigint DEFAULT 0 NOT NULL,
	"live_default_ms" bigint DEFAULT 0 NOT NULL,
	"live_pull_ms" bigint DEFAULT 0 NOT NULL,
	"live_other_ms" bigint DEFAULT 0 NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."repository_days" (
	"repository_id" uuid NOT NULL,
	"day" integer NOT NULL,
	"healthy" integer NOT NULL,
	"flaky" integer NOT NULL,
	"broken" integer NOT NULL,
	"failures" integer NOT NULL,
	CONSTRAINT "repository_days_repository_id_day_pk" PRIMARY KEY("repository_id","day")
);
--> statement-breakpoint
CREATE INDEX "application_keys_of_ci" ON "ci_insights"."application_keys" USING btree ("expires_at") WHERE ci_subject is not null;--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "ci_insights"."sessions" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "sessions_key" ON "ci_insights"."sessions" USING btree ("key_id");--> statement-breakpoint
CREATE INDEX "sessions_subject" ON "ci_insights"."sessions" USING btree ("subject");--> statement-breakpoint
CREATE INDEX "audit_at" ON "ci_insights"."audit" USING btree ("at","id");--> statement-breakpoint
CREATE INDEX "audit_action" ON "ci_insights"."audit" USING btree ("action","at","id");--> statement-breakpoint
CREATE INDEX "audit_actor" ON "ci_insights"."audit" USING btree ("actor_name","at","id");--> statement-breakpoint
CREATE INDEX "cause_days_day" ON "ci_insights"."cause_days" USING btree ("repository_id","day");--> statement-breakpoint
CREATE INDEX "cause_groups_node" ON "ci_insights"."cause_groups" USING btree ("repository_id","node_id");--> statement-breakpoint
CREATE INDEX "cause_nodes_cause" ON "ci_insights"."cause_nodes" USING btree ("repository_id","cause_id");--> statement-breakpoint
CREATE INDEX "cause_nodes_last" ON "ci_insights"."cause_nodes" USING btree ("repository_id","last_ms");--> statement-breakpoint
CREATE INDEX "cause_nodes_signature" ON "ci_insights"."cause_nodes" USING btree ("repository_id","signature_id");--> statement-breakpoint
CREATE INDEX "cause_nodes_words" ON "ci_insights"."cause_nodes" USING gin ("words") WITH (fastupdate=false);--> statement-breakpoint
CREATE INDEX "changed_files_sent_ms" ON "ci_insights"."changed_files" USING btree ("sent_ms");--> statement-breakpoint
CREATE INDEX "deleted_repositories_path" ON "ci_insights"."deleted_repositories" USING btree (lower("owner"),lower("name"),"deleted_at");--> statement-breakpoint
CREATE INDEX "deleted_repositories_unfinished" ON "ci_insights"."deleted_repositories" USING btree ("deleted_at") WHERE "ci_insights"."deleted_repositories"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "test_durations_total" ON "ci_insights"."test_durations" USING btree ("repository_id","total_us","test_id","leg_id");--> statement-breakpoint
CREATE INDEX "test_durations_median" ON "ci_insights"."test_durations" USING btree ("repository_id","median_us","test_id","leg_id");--> statement-breakpoint
CREATE INDEX "test_durations_p95" ON "ci_insights"."test_durations" USING btree ("repository_id","p95_us","test_id","leg_id");--> statement-breakpoint
CREATE INDEX "test_durations_grown" ON "ci_insights"."test_durations" USING btree ("repository_id","grown_us","test_id","leg_id") WHERE "ci_insights"."test_durations"."grown_day" is not null;--> statement-breakpoint
CREATE INDEX "block_parts_block" ON "ci_insights"."block_parts" USING btree ("block_id");--> statement-breakpoint
CREATE INDEX "stale_noted" ON "ci_insights"."stale" USING btree ("noted_at") WHERE "ci_insights"."stale"."noted_at" is not null;--> statement-breakpoint
CREATE INDEX "event_keys_taken" ON "ci_insights"."event_keys" USING btree ("taken_at");--> statement-breakpoint
CREATE UNIQUE INDEX "event_outbox_place" ON "ci_insights"."event_outbox" USING btree ("place");--> statement-breakpoint
CREATE INDEX "event_outbox_unplaced" ON "ci_insights"."event_outbox" USING btree ("id") WHERE "ci_insights"."event_outbox"."place" is null;--> statement-breakpoint
CREATE INDEX "pull_requests_merge_commit" ON "ci_insights"."pull_requests" USING btree ("repository_id","merge_commit");--> statement-breakpoint
CREATE INDEX "pull_requests_head_commit" ON "ci_insights"."pull_requests" USING btree ("repository_id","head_commit");--> statement-breakpoint
CREATE INDEX "pull_requests_head_ref" ON "ci_insights"."pull_requests" USING btree ("repository_id","head_ref");--> statement-breakpoint
CREATE INDEX "forgotten_people_unfinished" ON "ci_insights"."forgotten_people" USING btree ("requested_at") WHERE "ci_insights"."forgotten_people"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "forgotten_executions_month" ON "ci_insights"."forgotten_executions" USING btree ("month");--> statement-breakpoint
CREATE INDEX "forgotten_tests_listed" ON "ci_insights"."forgotten_tests" USING btree ("repository_id","requested_at" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "forgotten_tests_unfinished" ON "ci_insights"."forgotten_tests" USING btree ("requested_at") WHERE "ci_insights"."forgotten_tests"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "dead_letters_upload" ON "ci_insights"."dead_letters" USING btree ("upload_id");--> statement-breakpoint
CREATE UNIQUE INDEX "dead_letters_job" ON "ci_insights"."dead_letters" USING btree ("queue","job_id");--> statement-breakpoint
CREATE INDEX "ingest_blocks_open" ON "ci_insights"."ingest_blocks" USING btree ("created_at") WHERE not "ci_insights"."ingest_blocks"."is_closed";--> statement-breakpoint
CREATE INDEX "ingest_blocks_unstored" ON "ci_insights"."ingest_blocks" USING btree ("created_at") WHERE "ci_insights"."ingest_blocks"."stored_at" is null;--> statement-breakpoint
CREATE INDEX "ingest_claims_block" ON "ci_insights"."ingest_claims" USING btree ("block_id");--> statement-breakpoint
CREATE INDEX "ingest_claims_repository" ON "ci_insights"."ingest_claims" USING btree ("repository_id","month");--> statement-breakpoint
CREATE INDEX "ingest_claims_month" ON "ci_insights"."ingest_claims" USING brin ("month");--> statement-breakpoint
CREATE INDEX "refused_uploads_repository" ON "ci_insights"."refused_uploads" USING btree (lower("owner"),lower("repository"),"refused_at");--> statement-breakpoint
CREATE INDEX "refused_uploads_age" ON "ci_insights"."refused_uploads" USING btree ("refused_at","id");--> statement-breakpoint
CREATE INDEX "upload_chunks_block" ON "ci_insights"."upload_chunks" USING btree ("block_id");--> statement-breakpoint
CREATE INDEX "upload_chunks_run" ON "ci_insights"."upload_chunks" USING btree ("run_key");--> statement-breakpoint
CREATE INDEX "upload_chunks_received" ON "ci_insights"."upload_chunks" USING btree ("received_at");--> statement-breakpoint
CREATE INDEX "upload_chunks_repository" ON "ci_insights"."upload_chunks" USING btree ("repository_id","received_at","upload_id");--> statement-breakpoint
CREATE INDEX "upload_chunks_problems" ON "ci_insights"."upload_chunks" USING btree ("received_at","upload_id") WHERE "ci_insights"."upload_chunks"."has_problem";--> statement-breakpoint
CREATE INDEX "test_owners_owner" ON "ci_insights"."test_owners" USING btree ("owner","repository_id","test_id");--> statement-breakpoint
CREATE INDEX "pull_comments_due" ON "ci_insights"."pull_comments" USING btree ("due_at") WHERE "ci_insights"."pull_comments"."due_at" is not null;--> statement-breakpoint
CREATE INDEX "pull_comments_ran" ON "ci_insights"."pull_comments" USING btree ("ran_ms");--> statement-breakpoint
CREATE INDEX "quarantines_open" ON "ci_insights"."quarantines" USING btree ("repository_id","created_at","id") WHERE "ci_insights"."quarantines"."removed_at" is null;--> statement-breakpoint
CREATE UNIQUE INDEX "quarantines_once_per_scope" ON "ci_insights"."quarantines" USING btree ("repository_id","test_id",coalesce("branch", ''),"narrowing") WHERE "ci_insights"."quarantines"."removed_at" is null;--> statement-breakpoint
CREATE INDEX "quarantines_expiry" ON "ci_insights"."quarantines" USING btree ("expires_at") WHERE "ci_insights"."quarantines"."removed_at" is null and "ci_insights"."quarantines"."expires_at" is not null;--> statement-breakpoint
CREATE INDEX "quarantines_unannounced" ON "ci_insights"."quarantines" USING btree ("expires_at") WHERE "ci_insights"."quarantines"."removed_at" is null and "ci_insights"."quarantines"."expires_at" is not null and "ci_insights"."quarantines"."announced_expiry" is distinct from "ci_insights"."quarantines"."expires_at";--> statement-breakpoint
CREATE INDEX "quarantines_of_causes" ON "ci_insights"."quarantines" USING btree ("repository_id","cause_id") WHERE "ci_insights"."quarantines"."cause_id" is not null;--> statement-breakpoint
CREATE INDEX "quarantines_removed" ON "ci_insights"."quarantines" USING btree ("repository_id","test_id") WHERE "ci_insights"."quarantines"."removed_at" is not null;--> statement-breakpoint
CREATE UNIQUE INDEX "test_renames_pair" ON "ci_insights"."test_renames" USING btree ("repository_id","from_id","to_id");--> statement-breakpoint
CREATE UNIQUE INDEX "test_renames_accepted" ON "ci_insights"."test_renames" USING btree ("repository_id","to_id") WHERE "ci_insights"."test_renames"."state" = 'accepted';--> statement-breakpoint
CREATE INDEX "test_renames_listed" ON "ci_insights"."test_renames" USING btree ("repository_id","proposed_at" DESC NULLS LAST,"id" DESC NULLS LAST);--> statement-breakpoint
CREATE INDEX "test_renames_unapplied" ON "ci_insights"."test_renames" USING btree ("repository_id") WHERE not "ci_insights"."test_renames"."is_applied";--> statement-breakpoint
CREATE UNIQUE INDEX "repositories_path" ON "ci_insights"."repositories" USING btree (lower("owner"),lower("name"));--> statement-breakpoint
CREATE INDEX "backtests_repository" ON "ci_insights"."backtests" USING btree ("repository_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "backtests_open" ON "ci_insights"."backtests" USING btree ("repository_id") WHERE "ci_insights"."backtests"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "backtests_finished" ON "ci_insights"."backtests" USING btree ("finished_at");--> statement-breakpoint
CREATE UNIQUE INDEX "verifications_open" ON "ci_insights"."verifications" USING btree (("finished_at" is null)) WHERE "ci_insights"."verifications"."finished_at" is null;--> statement-breakpoint
CREATE INDEX "clues_commits" ON "ci_insights"."clues" USING btree ("repository_id","commit_sha");--> statement-breakpoint
CREATE INDEX "commit_records_first_ms" ON "ci_insights"."commit_records" USING btree ("first_ms");--> statement-breakpoint
CREATE INDEX "judged_runs_started" ON "ci_insights"."judged_runs" USING btree ("repository_id","started_ms");--> statement-breakpoint
CREATE INDEX "judged_runs_commits" ON "ci_insights"."judged_runs" USING btree ("repository_id","commit_sha") WHERE "ci_insights"."judged_runs"."commit_sha" <> '';--> statement-breakpoint
CREATE UNIQUE INDEX "saved_views_name" ON "ci_insights"."saved_views" USING btree ("repository_id","holder",lower("name"));--> statement-breakpoint
CREATE INDEX "saved_views_key" ON "ci_insights"."saved_views" USING btree ("key_id") WHERE "ci_insights"."saved_views"."key_id" is not null;--> statement-breakpoint
CREATE INDEX "splits_created" ON "ci_insights"."splits" USING btree ("created_at");--> statement-breakpoint
CREATE INDEX "former_groups_pending" ON "ci_insights"."former_groups" USING btree ("repository_id","test_id") WHERE "ci_insights"."former_groups"."is_pending";--> statement-breakpoint
CREATE INDEX "former_groups_last" ON "ci_insights"."former_groups" USING btree ("last_ms");--> statement-breakpoint
CREATE INDEX "health_changes_at" ON "ci_insights"."health_changes" USING btree (("repository_id"::text),"at_ms");--> statement-breakpoint
CREATE INDEX "identities_executions" ON "ci_insights"."identities" USING btree ("repository_id","executions" DESC NULLS FIRST,"name_start" collate "C") WHERE not "ci_insights"."identities"."is_folded";--> statement-breakpoint
CREATE INDEX "suspects_unhealthy" ON "ci_insights"."suspects" USING btree ("repository_id","health","test_id") WHERE "ci_insights"."suspects"."health" <> 'healthy';--> statement-breakpoint
CREATE INDEX "tests_name" ON "ci_insights"."tests" USING gin ("repository_id","name" gin_trgm_ops) WITH (gin_pending_list_limit=512);--> statement-breakpoint
CREATE INDEX "tests_start" ON "ci_insights"."tests" USING btree ("repository_id",left("name", 64) collate "C");--> statement-breakpoint
-- The relay takes every event that is ever written; a consumer that comes later begins with the next one.
INSERT INTO "ci_insights"."outbox_consumers" ("name") VALUES ('relay');--> statement-breakpoint
-- Ids of events begin at the microsecond of the migration: above every id of an event log that outlived its PostgreSQL.
SELECT setval('ci_insights.event_ids', (extract(epoch FROM clock_timestamp()) * 1000000)::bigint);--> statement-breakpoint
-- The page has room beside a test for the next version of its row: then a new first failure does not touch the index of names.
ALTER TABLE "ci_insights"."tests" SET (fillfactor = 70);--> statement-breakpoint
-- The page has room for the next version of a row: its numbers change with nearly every run, and are in no index.
ALTER TABLE "ci_insights"."test_listings" SET (fillfactor = 80);--> statement-breakpoint
-- The page has room for the next version of a row: with it, 91 of 100 rows are rewritten on their page, without it 64.
ALTER TABLE "ci_insights"."identities" SET (fillfactor = 85);--> statement-breakpoint
-- Bodies are compressed already.
ALTER TABLE "ci_insights"."block_parts" ALTER COLUMN "body" SET STORAGE EXTERNAL;--> statement-breakpoint
-- The locks of the evaluation.
INSERT INTO "ci_insights"."partitions" ("id") SELECT generate_series(0, 63);--> statement-breakpoint
-- Lists of days (day, passed, failed, day, …) to which a day that is in them is added again. Such a list is added up once it is
-- long: so it stays short however often late executions arrive. Days that no ratio asks for leave.
CREATE FUNCTION "ci_insights"."joined_days"(days int[], newest int) RETURNS int[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF cardinality(days) <= 192 THEN RETURN days; END IF;
  RETURN coalesce((
    SELECT array_agg(value ORDER BY day DESC, place) FROM (
      SELECT days[i] AS day, sum(days[i + 1])::int AS passed, sum(days[i + 2])::int AS failed
      FROM generate_series(1, cardinality(days), 3) AS i WHERE days[i] > newest - 30 GROUP BY days[i]
    ) AS summed CROSS JOIN LATERAL (VALUES (1, day), (2, passed), (3, failed)) AS flat (place, value)), '{}');
END $$;--> statement-breakpoint
-- The same of months (month, executions, first, month, …).
CREATE FUNCTION "ci_insights"."joined_months"(months bigint[]) RETURNS bigint[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  IF cardinality(months) <= 96 THEN RETURN months; END IF;
  RETURN (
    SELECT array_agg(value ORDER BY month DESC, place) FROM (
      SELECT months[i] AS month, sum(months[i + 1])::bigint AS executions, min(months[i + 2]) AS first
      FROM generate_series(1, cardinality(months), 3) AS i GROUP BY months[i]
    ) AS summed CROSS JOIN LATERAL (VALUES (1, month), (2, executions), (3, first)) AS flat (place, value));
END $$;
