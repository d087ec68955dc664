/**
 * The stored form of a belief about an identity: one JSON list without names, because every run rewrites one for each of
 * its tests. If a test has only passed, it holds the last execution and a count.
 */
import { type Belief, type BeliefAt, unknownBelief, type WeighedPlace } from '../domain/belief.ts';
import { hasOnlyPassed, PASSED } from '../domain/only-passed.ts';
import { HEALTHS, type Health } from '../domain/status.ts';

type Place = [executionId: string, commit: string, finishedAt: number];

type Count = [
  finishedAt: number,
  runId: string,
  runAttempt: number,
  executionId: string,
  commit: string,
  passes: number,
];
type Whole = [
  weights: readonly number[],
  brokenFromFlaky: number,
  fixedShare: number,
  failingCommits: [commit: string, at: number][],
  troubleAt: number,
  troubleShare: number,
  troubleShared: number,
  troubleLasting: number,
  troubleTogether: number,
  status: Health,
  wasFlaky: boolean,
  evidence: [...Place, isFlaky: boolean, isContradicted: boolean][],
  streak: Place[],
  wasSure: boolean,
  weighedAt: number,
];

const isNumber = (value: unknown): boolean => typeof value === 'number';
const isText = (value: unknown): boolean => typeof value === 'string';
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isHealth = (value: unknown): boolean => HEALTHS.some((health) => health === value);

/**
 * Only this file writes them, so the parts are checked and not every number: every run reads one for each of its tests,
 * and a schema would take as long as parsing the JSON.
 */
const COUNT = [isNumber, isText, isNumber, isText, isText, isNumber] as const;
const { isArray } = Array;
const WHOLE = [
  ...COUNT,
  ...[
    isArray,
    isNumber,
    isNumber,
    isArray,
    isNumber,
    isNumber,
    isNumber,
    isNumber,
    isNumber,
    isHealth,
    isFlag,
    isArray,
    isArray,
    isFlag,
    isNumber,
  ],
] as const;
const hasParts = (value: unknown, parts: readonly ((part: unknown) => boolean)[]): boolean =>
  isArray(value) && value.length === parts.length && parts.every((isPart, i) => isPart(value[i]));
const isCount = (value: unknown): value is Count => hasParts(value, COUNT);
const isWhole = (value: unknown): value is [...Count, ...Whole] => hasParts(value, WHOLE);

function parsed(text: string): Count | [...Count, ...Whole] {
  const value: unknown = JSON.parse(text);
  if (isCount(value) || isWhole(value)) return value;
  throw new TypeError('a stored belief has other parts than it is written with');
}

/** Whether it is {@link PASSED} but for the count and the commit. */
const isPassed = (belief: Belief): boolean => belief.trouble.share === PASSED.trouble.share && hasOnlyPassed(belief);

/** Empty before the first execution. */
export function writeBelief({ at, belief }: BeliefAt): string {
  if (at === null) return '';
  const { finishedAt, runId, runAttempt, executionId } = at;
  const count: Count = [finishedAt, runId, runAttempt, executionId.toString(), belief.commit, belief.passes];
  return JSON.stringify(isPassed(belief) ? count : [...count, ...wholeOf(belief)]);
}

/** Reads what {@link writeBelief} writes. */
export function readBelief(text: string): BeliefAt {
  if (text === '') return unknownBelief();
  const parts = parsed(text);
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
    shared,
    lasting,
    together,
    status,
    wasFlaky,
    evidence,
    streak,
    wasSure,
    weighedAt,
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
      trouble: { at: troubleAt, share, shared, lasting, together },
      weighedAt,
      seenAt: weighedAt === 0 ? 0 : finishedAt,
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
function wholeOf(belief: Belief): Whole {
  return [
    belief.weights,
    belief.brokenFromFlaky,
    belief.fixedShare,
    belief.failingCommits.map(({ commit, at }) => [commit, at]),
    belief.trouble.at,
    belief.trouble.share,
    belief.trouble.shared,
    belief.trouble.lasting,
    belief.trouble.together,
    belief.status,
    belief.wasFlaky,
    belief.evidence.map((one) => [one.executionId, one.commit, one.finishedAt, one.isFlaky, one.isContradicted]),
    belief.streak.map((one) => [one.executionId, one.commit, one.finishedAt]),
    belief.wasSure,
    belief.weighedAt,
  ];
}

const placeOf = (executionId: string, commit: string, finishedAt: number): WeighedPlace => ({
  executionId,
  commit,
  finishedAt,
});
