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
CREATE UNIQUE INDEX "verifications_open" ON "ci_insights"."verifications" USING btree (("finished_at" is null)) WHERE "ci_insights"."verifications"."finished_at" is null;