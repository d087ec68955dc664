/**
 * Clues: what commits show about an identity besides its own executions on the default branch. A commit of a pull request
 * contradicts itself about it, or other legs of the test ran on the commit on which it failed.
 */
import type { Contradiction } from './contradictions.ts';
import type { Elsewhere } from './elsewhere.ts';

/** Each has a place among the executions of the identity, `at`, and a `failure` that it speaks of. */
export type Clue = Contradiction | Elsewhere;

export const isElsewhere = <C extends Clue>(clue: C): clue is Extract<C, Elsewhere> => 'after' in clue;
export const isContradiction = <C extends Clue>(clue: C): clue is Extract<C, Contradiction> => 'run' in clue;
