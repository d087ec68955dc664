CREATE SCHEMA "ci_insights";
--> statement-breakpoint
CREATE SEQUENCE "ci_insights"."evaluation_version" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
CREATE TABLE "ci_insights"."application_keys" (
	"id" uuid PRIMARY KEY NOT NULL,
	"name" text NOT NULL,
	"owner" text,
	"scope" text NOT NULL,
	"repositories" text[],
	"token_hash" "bytea" NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone,
	"last_used_at" timestamp with time zone,
	"revoked_at" timestamp with time zone,
	CONSTRAINT "application_keys_token_hash_unique" UNIQUE("token_hash")
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
	"executions" integer NOT NULL,
	"body" "bytea",
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"stored_at" timestamp with time zone,
	"evaluated_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."ingest_claims" (
	"source_key" uuid NOT NULL,
	"block_id" bigint NOT NULL,
	"ids" "bytea" NOT NULL,
	CONSTRAINT "ingest_claims_source_key_block_id_pk" PRIMARY KEY("source_key","block_id")
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."installation" (
	"is_only" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"id" uuid DEFAULT gen_random_uuid() NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL
);
--> statement-breakpoint
CREATE TABLE "ci_insights"."pull_requests" (
	"repository_id" uuid NOT NULL,
	"number" integer NOT NULL,
	"id" bigint NOT NULL,
	"title" text NOT NULL,
	"author_id" bigint,
	"author_login" text,
	"merge_commit" text,
	CONSTRAINT "pull_requests_repository_id_number_pk" PRIMARY KEY("repository_id","number")
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
	"created_at" timestamp with time zone NOT NULL
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
	"on_default_branch" integer NOT NULL,
	"rejections" jsonb NOT NULL,
	"warnings" jsonb NOT NULL,
	"stored_at" timestamp with time zone,
	CONSTRAINT "upload_chunks_upload_id_chunk_index_pk" PRIMARY KEY("upload_id","chunk_index")
);
--> statement-breakpoint
CREATE INDEX "dead_letters_upload" ON "ci_insights"."dead_letters" USING btree ("upload_id");--> statement-breakpoint
CREATE UNIQUE INDEX "dead_letters_job" ON "ci_insights"."dead_letters" USING btree ("queue","job_id");--> statement-breakpoint
CREATE INDEX "ingest_blocks_pending" ON "ci_insights"."ingest_blocks" USING btree ("created_at") WHERE "ci_insights"."ingest_blocks"."evaluated_at" is null;--> statement-breakpoint
CREATE INDEX "ingest_claims_block" ON "ci_insights"."ingest_claims" USING btree ("block_id");--> statement-breakpoint
CREATE INDEX "pull_requests_merge_commit" ON "ci_insights"."pull_requests" USING btree ("repository_id","merge_commit");--> statement-breakpoint
CREATE UNIQUE INDEX "repositories_path" ON "ci_insights"."repositories" USING btree (lower("owner"),lower("name"),lower("host"));--> statement-breakpoint
CREATE INDEX "upload_chunks_block" ON "ci_insights"."upload_chunks" USING btree ("block_id");--> statement-breakpoint
CREATE INDEX "upload_chunks_received" ON "ci_insights"."upload_chunks" USING btree ("received_at");