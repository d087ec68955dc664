/**
 * The tables that a SELECT derives from the executions. Each is defined once, in `sql/derived`: a rebuild inserts what
 * it gives, `verify` compares with it, and a test compares it with the materialized view that fills the table. What runs
 * mean and the state of tests are derived by rules that SQL cannot express (src/evaluation).
 */
import { defineStatement } from '../clickhouse/query.ts';
import { scope } from '../clickhouse/scope.ts';

export const derived = {
  runs: defineStatement('derived/runs', scope),
  commit_runs: defineStatement('derived/commit_runs', scope),
} as const;
