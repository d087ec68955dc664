/** The outcomes of results. */
import type { Status } from '../../domain/status.ts';
import { statusOfWord } from '../../domain/status-words.ts';

/** Null for an unknown outcome. An omitted one is Error, which is the writer's default. */
export const statusOf = (outcome: string | undefined): Status | null =>
  outcome === undefined ? 'failed' : (statusOfWord(outcome) ?? null);
