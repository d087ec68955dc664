/**
 * What is believed of an identity as it is stored: one JSON list without names, because every run rewrites one for each of
 * its tests. Of a test that has only passed, it is the last execution and a count.
 */
import { z } from 'zod';
import { type Belief, newBelief, type WeighedPlace } from '../domain/belief.ts';
import type { Position } from '../domain/execution.ts';
import { PASSED } from '../domain/only-passed.ts';
import { HEALTHS } from '../domain/status.ts';

/** A belief after some execution. */
export interface StoredBelief {
  /** The last execution that it knows; null before the first. */
  at: Position | null;
  belief: Belief;
}

type Place = [executionId: string, commit: string, finishedAt: number];

/** Only this file writes them: looking at each number would take longer than parsing the JSON. */
const list = <T>() => z.custom<T[]>(Array.isArray);
const head = [z.number(), z.string(), z.number(), z.string(), z.string(), z.number()] as const;
const storedCount = z.tuple([...head]);
const storedWhole = z.tuple([
  ...head,
  list<number>(),
  z.number(),
  z.number(),
  list<[commit: string, at: number]>(),
  z.number(),
  z.number(),
  z.enum(HEALTHS),
  z.boolean(),
  list<[...Place, isFlaky: boolean, isContradicted: boolean]>(),
  list<Place>(),
  z.boolean(),
]);
const stored = z.union([storedCount, storedWhole]);

const WHOLE_OF_PASSED = JSON.stringify(wholeOf(PASSED));

export const unknownBelief = (): StoredBelief => ({ at: null, belief: newBelief() });

/** Empty before the first execution. */
export function writeBelief({ at, belief }: StoredBelief): string {
  if (at === null) return '';
  const { finishedAt, runId, runAttempt, executionId } = at;
  const first = [finishedAt, runId, runAttempt, executionId.toString(), belief.commit, belief.passes];
  const whole = wholeOf(belief);
  return JSON.stringify(JSON.stringify(whole) === WHOLE_OF_PASSED ? first : [...first, ...whole]);
}

/** Reads what {@link writeBelief} writes. */
export function readBelief(text: string): StoredBelief {
  if (text === '') return unknownBelief();
  const parts = stored.parse(JSON.parse(text));
  const [finishedAt, runId, runAttempt, executionId, commit, passes] = parts;
  const at = { finishedAt, runId, runAttempt, executionId: BigInt(executionId) };
  if (parts.length === 6) return { at, belief: { ...PASSED, commit, passes } };
  const [
    ,
    ,
    ,
    ,
    ,
    ,
    weights,
    brokenFromFlaky,
    fixedShare,
    failing,
    troubleAt,
    share,
    status,
    wasFlaky,
    evidence,
    streak,
    wasSure,
  ] = parts;
  return {
    at,
    belief: {
      weights,
      passes,
      brokenFromFlaky,
      fixedShare,
      commit,
      failingCommits: failing.map(([one, failedAt]) => ({ commit: one, at: failedAt })),
      trouble: { at: troubleAt, share },
      status,
      wasFlaky,
      wasSure,
      evidence: evidence.map(([id, on, finished, isFlaky, isContradicted]) => ({
        ...placeOf(id, on, finished),
        isFlaky,
        isContradicted,
      })),
      streak: streak.map(([id, on, finished]) => placeOf(id, on, finished)),
    },
  };
}

/** Everything but the count and the commit. */
function wholeOf(belief: Belief): unknown[] {
  return [
    belief.weights,
    belief.brokenFromFlaky,
    belief.fixedShare,
    belief.failingCommits.map(({ commit, at }) => [commit, at]),
    belief.trouble.at,
    belief.trouble.share,
    belief.status,
    belief.wasFlaky,
    belief.evidence.map((one) => [one.executionId, one.commit, one.finishedAt, one.isFlaky, one.isContradicted]),
    belief.streak.map((one) => [one.executionId, one.commit, one.finishedAt]),
    belief.wasSure,
  ];
}

const placeOf = (executionId: string, commit: string, finishedAt: number): WeighedPlace => ({
  executionId,
  commit,
  finishedAt,
});
