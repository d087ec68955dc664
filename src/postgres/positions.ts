/** The execution at which something happened, as the columns of a row. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Position } from '../domain/execution.ts';

export const positionColumns = sql`at_ms::float8 as at_ms, run_id, run_attempt::float8 as run_attempt, execution_id`;

/** The schema of these columns. */
export const positionRow = {
  at_ms: z.number(),
  run_id: z.string(),
  run_attempt: z.number(),
  execution_id: z.string().transform(BigInt),
};

export const positionOf = (row: z.infer<z.ZodObject<typeof positionRow>>): Position => ({
  finishedAt: row.at_ms,
  runId: row.run_id,
  runAttempt: row.run_attempt,
  executionId: row.execution_id,
});
