/** How a claim is said in a few words. Pure. */
import type { ClaimVerdict } from './change-claim.ts';

export const CLAIM_VERDICT_WORDS: Readonly<Record<ClaimVerdict, string>> = {
  change: 'The change',
  broken: 'Not the change, broken on the default branch',
  flaky: 'Not the change, flaky',
  infrastructure: 'Not the change, infrastructure',
  unknown: 'Not enough to say',
};

/** The probability that it is the change; only what is sure is 0% or 100%. */
export function claimPercent(probability: number): string {
  const percent = Math.round(100 * probability);
  return percent === 0 ? 'less than 1%' : percent === 100 ? 'more than 99%' : `${percent}%`;
}
