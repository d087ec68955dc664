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
CREATE INDEX "former_groups_pending" ON "ci_insights"."former_groups" USING btree ("repository_id","test_id") WHERE "ci_insights"."former_groups"."is_pending";--> statement-breakpoint
CREATE INDEX "former_groups_last" ON "ci_insights"."former_groups" USING btree ("last_ms");