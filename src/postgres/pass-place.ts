/** The last clean pass of an identity as it is stored. */
import type { Position } from '../domain/execution.ts';
import type { CountedPasses } from '../domain/suspect.ts';

/** Separates the parts of a place, and comes before all that they may contain. */
const SEPARATOR = '\u0001';
const ATTEMPT_DIGITS = 10;
const ID_DIGITS = 20;

/** The place of a pass among those that finished at the same time, as a text that sorts like it; and its commit. */
export const placeText = ({ at, commit }: CountedPasses): string =>
  at === null
    ? ''
    : `${at.runId}${SEPARATOR}${String(at.runAttempt).padStart(ATTEMPT_DIGITS, '0')}${SEPARATOR}${String(at.executionId).padStart(ID_DIGITS, '0')}${SEPARATOR}${commit}`;

export function placeOf(passMs: number, text: string): { at: Position; commit: string } {
  const [runId = '', attempt = '0', executionId = '0', commit = ''] = text.split(SEPARATOR);
  return { at: { finishedAt: passMs, runId, runAttempt: Number(attempt), executionId: BigInt(executionId) }, commit };
}
