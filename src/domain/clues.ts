/**
 * Clues: what commits show about an identity besides its own executions on the default branch. Either a commit of a pull
 * request contradicts itself about it (contradictions.ts), or other legs of the test ran on the commit on which it failed
 * (other-legs.ts).
 */
import type { Contradiction } from './contradictions.ts';
import type { OtherLegsClue } from './other-legs.ts';

/** Each has a place among the executions of the identity, `at`, and a `failure` that it speaks of. */
export type Clue = Contradiction | OtherLegsClue;

export const isOfOtherLegs = <C extends Clue>(clue: C): clue is Extract<C, OtherLegsClue> => 'after' in clue;
export const isContradiction = <C extends Clue>(clue: C): clue is Extract<C, Contradiction> => 'run' in clue;
