/** The result of comparing everything derived with the executions, as the API and the command show it. */
import { z } from 'zod';

export const verifyReportSchema = z
  .object({
    is_consistent: z.boolean().meta({ example: true }),
    is_complete: z.boolean().meta({
      description: 'Whether exactly what PostgreSQL counts as stored is stored. A rebuild cannot change that',
      example: true,
    }),
    executions: z.int().meta({ example: 120_000 }),
    pending_blocks: z.int().meta({ description: 'Blocks on their way: what they bring is not compared', example: 0 }),
    regrouping: z
      .object({ messages: z.int().meta({ example: 0 }), tests: z.int().meta({ example: 0 }) })
      .meta({ description: 'What waits for its new failure group after an upgrade, and is not compared' }),
    checks: z.array(
      z.object({
        name: z.string().meta({ example: 'runs: totals of each day' }),
        count: z.int().meta({ description: 'Differences', example: 0 }),
        differences: z.array(z.string()).meta({ description: 'Up to 20 of them, in words' }),
      }),
    ),
  })
  .meta({ id: 'VerifyReport' });

export type VerifyReportDocument = z.infer<typeof verifyReportSchema>;
