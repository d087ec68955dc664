/** The receipt of an import, as the page shows it: fields of the document that the command writes (docs/import.md). */
import { z } from 'zod';

/** Reasons that are shown; the command's own receipt has all. */
const REASONS_MAX = 50;
const EXAMPLES_MAX = 3;

const reasons = z
  .array(
    z.object({
      reason: z.string().meta({ example: 'the artifact has expired' }),
      count: z.int().meta({ example: 12 }),
      examples: z
        .array(z.string())
        .transform((names) => names.slice(0, EXAMPLES_MAX))
        .meta({ example: ['run 1001, artifact junit-linux'] }),
    }),
  )
  .transform((list) => list.slice(0, REASONS_MAX));
const count = z.int();
const day = z.iso.datetime().nullable();

export const importReceiptSchema = z
  .object({
    first_arrived_at: day.meta({
      description: 'Of the oldest report that was taken',
      example: '2026-08-23T10:00:00.000Z',
    }),
    last_arrived_at: day.meta({ example: '2026-11-20T10:00:00.000Z' }),
    reports: z.object({ stored: count, queued: count, left_out: count }),
    executions: z.object({ accepted: count, duplicate: count, rejected: count, conflicting: count }),
    pull_requests: count.meta({ example: 120 }),
    left_out: reasons.meta({ description: 'Reports that were not taken, by reason: at most 50' }),
    rejections: reasons.meta({ description: 'Rows that were refused' }),
    warnings: reasons,
  })
  .meta({ id: 'ImportReceipt' });
