/** Executions with what an explanation shows about them. */
import { z } from 'zod';
import { executionColumns, executionOf, type IdentifiedExecution } from '../evaluation/executions.ts';

export interface ExplainedExecution extends IdentifiedExecution {
  /** When it was received; milliseconds since the epoch, 0 if that was not recorded. */
  receivedAt: number;
  /** Empty if unknown. */
  jobUrl: string;
  /** 0: none. */
  pullRequest: number;
}

export const explainedColumns = executionColumns.extend({ received_at_ms: z.number(), job_url: z.string() });
export const explainedOf = (row: z.infer<typeof explainedColumns>) => ({
  ...executionOf(row),
  receivedAt: row.received_at_ms,
  jobUrl: row.job_url,
});
