CREATE TABLE "ci_insights"."sessions" (
	"id" uuid PRIMARY KEY NOT NULL,
	"token_hash" "bytea" NOT NULL,
	"key_id" uuid,
	"actor" text NOT NULL,
	"scope" text NOT NULL,
	"owner" text,
	"repositories" text[],
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "sessions_token_hash_unique" UNIQUE("token_hash")
);
--> statement-breakpoint
CREATE INDEX "sessions_expires" ON "ci_insights"."sessions" USING btree ("expires_at");