/**
 * The tables in PostgreSQL: what people change, and what must be transactional. `bunx drizzle-kit generate` writes
 * migrations from them into `sql/postgres/`.
 */
export * from './schema/access.ts';
export * from './schema/audit.ts';
export * from './schema/causes.ts';
export * from './schema/changed-files.ts';
export { nextValueOf, schema } from './schema/columns.ts';
export * from './schema/deleted-repositories.ts';
export * from './schema/durations.ts';
export * from './schema/evaluation.ts';
export * from './schema/events.ts';
export * from './schema/forgotten-people.ts';
export * from './schema/forgotten-tests.ts';
export * from './schema/imports.ts';
export * from './schema/ledger.ts';
export * from './schema/owners.ts';
export * from './schema/pull-comments.ts';
export * from './schema/quarantines.ts';
export * from './schema/renames.ts';
export * from './schema/repositories.ts';
export * from './schema/requests.ts';
export * from './schema/runs.ts';
export * from './schema/saved-views.ts';
export * from './schema/splits.ts';
export * from './schema/test-state.ts';
export * from './schema/totals.ts';
