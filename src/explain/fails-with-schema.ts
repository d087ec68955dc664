/** Which axis explains the failures of a test, as a document. Its fields are only ever added. */
import { z } from 'zod';
import { axisScopeSchema } from '../domain/axis-scope.ts';

/** Ways to say the same, and legs, that an answer holds. */
export const TERMS_MAX = 10;
export const LEGS_LISTED_MAX = 100;

const counts = (description: string, failed: number, ran: number) =>
  z
    .object({ failed: z.int().meta({ example: failed }), ran: z.int().meta({ example: ran }) })
    .meta({ description })
    .nullable();

export const failsWithSchema = z
  .object({
    kind: z.enum(['axes', 'leg', 'every_leg', 'unknown']).meta({
      description:
        '`axes`: its failures follow these values of axes; `leg`: they follow one leg; `every_leg`: they follow no axis; `unknown`: too little is known',
      example: 'axes',
    }),
    sentence: z.string().meta({ description: 'In words', example: 'Fails only with os=windows.' }),
    terms: z
      .array(
        z.array(
          z.object({
            axis: z.string().meta({ example: 'os' }),
            values: z.array(z.string()).meta({ description: 'Any of these', example: ['windows'] }),
          }),
        ),
      )
      .meta({
        description: `Values of axes that hold together. Several, if nothing that ran tells them apart: at most ${TERMS_MAX}. A pipeline and a CI job are the axes \`pipeline\` and \`job\` (\`CI pipeline\` and \`CI job\`, if a run has axes of these names)`,
        example: [[{ axis: 'os', values: ['windows'] }]],
      }),
    probability: z.number().min(0).max(1).nullable().meta({ description: 'How likely it is right', example: 0.998 }),
    commits_count: z.int().nullable().meta({
      description: 'How often the legs of a commit, on one day, spoke for it alone',
      example: 9,
    }),
    inside: counts('Executions with these values', 9, 12),
    outside: counts('All others', 0, 60),
    scope: z
      .object({
        pipeline_name: z.string().nullable().meta({ example: null }),
        job_name: z.string().nullable().meta({ example: null }),
        axes: axisScopeSchema.nullable().meta({ example: { os: ['windows'] } }),
      })
      .nullable()
      .meta({
        description:
          'What a quarantine of the test is best narrowed to; null if it fails elsewhere too, or if nothing explains its failures',
      }),
  })
  .meta({ id: 'FailsWith' });

export type FailsWith = z.output<typeof failsWithSchema>;

export const failsWithField = failsWithSchema.nullable().meta({
  description: 'Which axis explains its failures; null if it has not failed on the default branch in these days',
});
