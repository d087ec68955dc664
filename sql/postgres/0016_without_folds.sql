ALTER TABLE "ci_insights"."identities" DROP COLUMN "fold";--> statement-breakpoint
-- Folds of the former rules: nothing can continue from them.
DELETE FROM "ci_insights"."health_checkpoints";
