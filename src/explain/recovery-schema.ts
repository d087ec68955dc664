/** How far a test is from being surely healthy, as a document. Its fields are only ever added. */
import { z } from 'zod';
import { axesOut, count, health, moment, passesNeeded, probability, probableFixField } from './explanation-schema.ts';

export const recoverySchema = z
  .object({
    test_id: z.guid().meta({ example: '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11' }),
    test_name: z.string().meta({ example: 'Cart > totals > sums [a, b] with 10% tax' }),
    health_status: health.meta({ description: 'The worst health of the legs that count' }),
    confidence: probability('What was asked for: how likely every leg must be healthy', 0.97),
    is_surely_healthy: z
      .boolean()
      .meta({ description: 'Whether every leg is as likely healthy as that', example: false }),
    clean_passes_needed: passesNeeded('How many more clean passes all legs need together'),
    clean_runs_needed: passesNeeded(
      'How many more runs of all its legs, if all of them pass: as many as the leg that needs most',
    ),
    probable_fix: probableFixField,
    is_complete: z.boolean().meta({ description: 'Whether all retained executions were considered', example: true }),
    legs: z
      .array(
        z.object({
          pipeline_name: z.string().meta({ example: 'CI' }),
          job_name: z.string().meta({ example: 'unit' }),
          axes: axesOut,
          health_status: health,
          healthy_probability: probability('How likely the test is healthy in this leg', 0.91),
          clean_passes: count('Clean passes in a row, which count already', 14),
          clean_passes_needed: passesNeeded('How many more in a row, as often as lately, make it as likely healthy'),
          probable_fix: probableFixField,
        }),
      )
      .meta({ description: 'Those that count for its health: they ran within 14 days before its newest execution' }),
    quarantines: z
      .array(
        z.object({
          quarantine_id: z.guid().meta({ example: '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a' }),
          is_recovered: z
            .boolean()
            .meta({ description: 'By a confidence of 97%, whatever was asked for', example: false }),
          recovers_from: moment.meta({
            description: 'It has recovered no earlier: its legs must have run for three days since it was made',
          }),
        }),
      )
      .meta({ description: 'Open quarantines of the test' }),
  })
  .meta({ id: 'Recovery' });

export type Recovery = z.infer<typeof recoverySchema>;
