/** The list of what a dump holds. It is written last: a folder without it is not a whole dump. */
import { z } from 'zod';
import { monthSchema } from '../clickhouse/months.ts';

export const MANIFEST_FILE = 'manifest.json';

const fileName = z.string().regex(/^[\w.-]+$/);
const rows = z.int().nonnegative();

export const manifestSchema = z.strictObject({
  format: z.literal(1),
  /** The version of the service that wrote it. */
  version: z.string(),
  made_at: z.iso.datetime(),
  installation: z.string(),
  newest_block: z.int().nonnegative(),
  postgres: z.strictObject({
    tables: z.array(z.strictObject({ table: z.string(), columns: z.array(z.string()), rows, file: fileName })),
    sequences: z.record(
      z.string(),
      z
        .string()
        .regex(/^-?\d+$/)
        .nullable(),
    ),
  }),
  clickhouse: z.array(
    monthSchema.extend({ contents: z.strictObject({ rows, digest: z.string().regex(/^\d+$/) }), file: fileName }),
  ),
});
export type Manifest = z.output<typeof manifestSchema>;
