/** A claim as answers show it: how likely the change caused a failure, and why. */
import { z } from 'zod';
import { axesOf } from '../domain/axes.ts';
import { axesWords } from '../domain/axes-in-words.ts';
import { CLAIM_VERDICTS } from '../domain/change-claim.ts';
import { CLAIM_SIGNS, type Claim, claimOf } from '../domain/claim-words.ts';
import { formatMoment } from '../domain/moment.ts';
import type { LegFailure } from './judge-failures.ts';

const probability = (description: string, example: number) => z.number().min(0).max(1).meta({ description, example });

const reasonSchema = z
  .object({
    sign: z.enum(CLAIM_SIGNS).meta({ description: 'What was seen', example: 'same_code' }),
    sentence: z.string().meta({ example: 'It failed in all of 3 runs of this commit.' }),
    factor: z.number().meta({
      description:
        'How many times likelier it makes that the change caused the failure: the odds with it, divided by the odds without it. Below 1, it speaks against that',
      example: 2.4,
    }),
  })
  .meta({ id: 'ClaimReason' });

export const claimFields = {
  probability: probability('That the change caused the failure', 0.96),
  verdict: z.enum(CLAIM_VERDICTS).meta({
    description:
      '`change`: 90% or more. `broken`, `flaky`, `infrastructure`: 10% or less, and something shows this: the default branch is broken in the same way, the same code has passed, or signs of trouble. `unknown`: not enough to say; `needs` says what would decide',
    example: 'change',
  }),
  explanations: z
    .object({
      change: probability('As `probability`', 0.96),
      broken: probability('The default branch is broken', 0),
      flaky: probability('The test fails now and then, whatever the change', 0.03),
      infrastructure: probability('Its run met trouble', 0.01),
    })
    .meta({ description: 'How likely each explanation is; they add up to 1' }),
  for: z.array(reasonSchema).meta({ description: 'What speaks for the change as the cause, the strongest first' }),
  against: z.array(reasonSchema).meta({ description: 'What speaks against it, the strongest first', example: [] }),
  needs: z
    .object({
      reruns: z.int().nullable().meta({
        description: 'So many reruns in the same leg decide if all fail; null: 50 would not',
        example: 3,
      }),
      sentence: z.string().meta({ example: 'Not enough to say: 3 reruns of unit (CI) would decide if all fail.' }),
    })
    .nullable()
    .meta({ description: 'What would decide; null unless the verdict is `unknown`', example: null }),
};

export const claimSchema = z.object(claimFields).meta({ id: 'Claim' });

interface ClaimContext {
  defaultBranch: string | null;
  baseCommit: string | null;
}

/** The claim about a failed test, in the leg that its verdict is about. */
export function claimAbout(failure: LegFailure, { defaultBranch, baseCommit }: ClaimContext): Claim {
  const { pipelineName, jobName, axes, episode, changedFile } = failure;
  const place = [pipelineName, axesWords(axesOf(axes))].filter(Boolean).join(', ');
  return claimOf(failure.claim, {
    ...{ defaultBranch, baseCommit, changedFile },
    leg: `${jobName} (${place})`,
    healthBeganAt: episode?.beganAt == null ? null : formatMoment(episode.beganAt).slice(0, 10),
  });
}

/** Thousandths are all that is known of a probability. */
const share = (value: number): number => Math.round(1_000 * value) / 1_000;

export const claimJson = (claim: Claim): z.input<typeof claimSchema> => ({
  probability: share(claim.probability),
  verdict: claim.verdict,
  explanations: {
    change: share(claim.explanations.change),
    broken: share(claim.explanations.broken),
    flaky: share(claim.explanations.flaky),
    infrastructure: share(claim.explanations.infrastructure),
  },
  for: claim.for,
  against: claim.against,
  needs: claim.needs,
});
