/** The newest execution of an identity as it is stored: one text, so that what is shown of it is one list of columns. */
import { z } from 'zod';
import { STATUSES } from '../domain/status.ts';
import { NEWEST_FACTS, type NewestFacts, type SummarisedExecution } from '../domain/test-state.ts';

const ID_DIGITS = 20;

const stored = z
  .string()
  .transform((text): unknown => JSON.parse(text))
  .pipe(z.tuple([z.string(), z.enum(STATUSES), z.record(z.string(), z.string())]));

/** Begins with the id, in as many digits as the longest has: of those that finished together, the greater text is the newer. */
export function newestText(newest: SummarisedExecution | null): string {
  if (newest === null) return '';
  const facts: Partial<NewestFacts> = {};
  for (const fact of NEWEST_FACTS) if (newest[fact] !== '') facts[fact] = newest[fact];
  return JSON.stringify([String(newest.executionId).padStart(ID_DIGITS, '0'), newest.status, facts]);
}

export function newestOf(finishedAt: number, text: string): SummarisedExecution | null {
  if (text === '') return null;
  const [executionId, status, facts] = stored.parse(text);
  const known = Object.fromEntries(NEWEST_FACTS.map((fact) => [fact, facts[fact] ?? ''])) as NewestFacts;
  return { finishedAt, executionId: BigInt(executionId), status, ...known };
}
