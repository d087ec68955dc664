CREATE TABLE "ci_insights"."late_listings" (
	"repository_id" uuid NOT NULL,
	"note_id" bigint GENERATED ALWAYS AS IDENTITY (sequence name "ci_insights"."late_listings_note_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"test_ids" uuid[] NOT NULL,
	CONSTRAINT "late_listings_repository_id_note_id_pk" PRIMARY KEY("repository_id","note_id")
);
