/**
 * Which axis explains the failures of a test: the smallest set of legs that they follow. Pure.
 *
 * Legs are compared only within a *stratum*: what ran for the same commit on the same day. A bad commit or a bad hour hits
 * all legs of its stratum, and says nothing of any of them. Given that k of the n legs of a stratum failed, the likelihood of
 * a set of legs is that of how many of its legs are among them (noncentral hypergeometric). A value of an axis may be ill for a
 * day: so no stratum proves more than 100 : 1, and what is named must hold without the two strata that speak most for it.
 * Fisher's test on pooled counts names such a day in half of all cases (`tests/simulation/axes.ts` compares).
 */
import { type Axes, axesOf } from './axes.ts';
import { type AxisTerm, type Candidate, type CandidateKind, candidatesOf, narrowerSets } from './axis-candidates.ts';
import { countBoth, hasLeg, type LegSet, legSetOf } from './leg-set.ts';

/** One execution of the test that passed or failed. */
export interface LegResult {
  readonly commit: string;
  /** Number of its UTC day. */
  readonly day: number;
  /** `axesText` of where it ran. */
  readonly leg: string;
  readonly isFailed: boolean;
}

export type AxisExplanation =
  /** Too little is known. */
  | { readonly kind: 'unknown' }
  /** The failures follow no axis. */
  | { readonly kind: 'every_leg'; readonly probability: number }
  | NamedLegs;

export interface NamedLegs {
  readonly kind: 'axes' | 'leg';
  /** The shortest descriptions of the legs. More than one, if nothing that ran tells them apart. */
  readonly terms: readonly AxisTerm[];
  /** Whether hardly any failure is elsewhere. */
  readonly isOnly: boolean;
  readonly probability: number;
  /** Strata that speak for it alone. */
  readonly strata: number;
  readonly inside: Counts;
  readonly outside: Counts;
}

interface Counts {
  readonly failed: number;
  readonly ran: number;
}

/** Fewer strata never name anything. */
export const STRATA_MIN = 3;
/** The newest with failures are looked at: what was fixed long ago is not explained. */
const STRATA_MAX = 30;
/** How many times likelier one stratum can make anything. */
const STRATUM_RATIO_MAX = 100;
/** A stratum speaks for a set of legs from this ratio on. */
const SPEAKING_RATIO = 1.5;
const NAMED_MIN = 0.9;
/** Without the strata that speak most for a set, the others must still make it so many times likelier. */
const LEFT_OUT = 2;
const RATIO_WITHOUT_MIN = 10;
const EVERY_LEG_MIN = 0.99;
/** "Only": at most this share of executions elsewhere failed. */
const ONLY_SHARE_MAX = 0.02;
/** How many times the odds to fail are greater within the set. */
const ODDS_RATIOS = [4, 16, 64, 512, 1e5] as const;
const PRIOR_NONE = 0.9;
/** Shared equally by all sets of the kind. */
const PRIORS: Readonly<Record<CandidateKind, number>> = { value: 0.06, either: 0.01, pair: 0.02, leg: 0.005 };
/** For each narrower set than those that can be named. */
const PRIOR_NARROWER = PRIORS.leg / 30;
const NEWEST_RESULTS_MAX = 50_000;

/** @param results in the order in which they finished; only the newest 50,000 count */
export function explainByAxes(results: readonly LegResult[]): AxisExplanation {
  const newest = results.slice(-NEWEST_RESULTS_MAX);
  const { legs: texts, strata } = strataOf(newest);
  if (strata.length < STRATA_MIN) return { kind: 'unknown' };
  const legs = texts.map(axesOf);
  const candidates = candidatesOf(legs);
  if (candidates.length === 0) return { kind: 'unknown' };
  const { best, probability, none, speaking } = weigh(candidates, legs, strata);
  if (none >= EVERY_LEG_MIN) return { kind: 'every_leg', probability: none };
  if (!best || probability < NAMED_MIN || speaking < STRATA_MIN) return { kind: 'unknown' };
  return named(best, { probability, strata: speaking }, texts, newest);
}

/** The legs that ran, and those that failed. */
interface Stratum {
  readonly ran: LegSet;
  readonly failed: LegSet;
  readonly n: number;
  readonly k: number;
}

/** The n-th execution of each leg for a commit and day; strata in which all or none failed say nothing. */
function strataOf(results: readonly LegResult[]): { legs: string[]; strata: Stratum[] } {
  const legs = new Map<string, number>();
  const times = new Map<string, number>();
  const strata = new Map<string, { ran: number[]; failed: number[] }>();
  for (const { commit, day, leg: text, isFailed } of results) {
    const leg = legs.get(text) ?? legs.size;
    legs.set(text, leg);
    const place = `${day}\0${commit}`;
    const time = times.get(`${leg}\0${place}`) ?? 0;
    times.set(`${leg}\0${place}`, time + 1);
    const key = `${time}\0${place}`;
    const stratum = strata.get(key) ?? { ran: [], failed: [] };
    strata.set(key, stratum);
    stratum.ran.push(leg);
    if (isFailed) stratum.failed.push(leg);
  }
  const telling = [...strata.values()].filter(({ ran, failed }) => failed.length > 0 && failed.length < ran.length);
  return {
    legs: [...legs.keys()],
    strata: telling.slice(-STRATA_MAX).map(({ ran, failed }) => ({
      ran: legSetOf(legs.size, ran),
      failed: legSetOf(legs.size, failed),
      n: ran.length,
      k: failed.length,
    })),
  };
}

interface Weighed {
  best: Candidate | undefined;
  /** The probability of the best. */
  probability: number;
  /** That the failures follow no axis. */
  none: number;
  speaking: number;
}

function weigh(candidates: readonly Candidate[], legs: readonly Axes[], strata: readonly Stratum[]): Weighed {
  const ratios = candidates.map(({ legs: set }) => strata.map((stratum) => ratiosIn(stratum, set)));
  const weights = strata.map((_, s) => weightOf(ratios.map((ofCandidate) => ofCandidate[s])));
  const counts = Map.groupBy(candidates, ({ kind }) => kind);
  const scores = candidates.map(({ kind }, i) => {
    const prior = PRIORS[kind] / (counts.get(kind)?.length ?? 1);
    return evidence(ratios[i] ?? [], weights) + Math.log(prior);
  });
  const top = scores.reduce((greatest, score) => Math.max(greatest, score), Math.log(PRIOR_NONE));
  const share = (score: number): number => Math.exp(score - top);
  const sum = scores.reduce((total, score) => total + share(score), share(Math.log(PRIOR_NONE)));
  const none = share(Math.log(PRIOR_NONE)) / sum;
  const at = scores.reduce((first, score, i) => (score > (scores[first] ?? Number.NEGATIVE_INFINITY) ? i : first), 0);
  const best = candidates[at];
  if (!best) return { best, probability: 0, none, speaking: 0 };
  const own = ratios[at] ?? [];
  const speaking = own.filter(
    (one, s) => one && (weights[s] ?? 0) * Math.max(...one) > Math.log(SPEAKING_RATIO),
  ).length;
  const isBeaten = narrowerSets(best, legs).some((set) => {
    const narrower = strata.map((stratum) => ratiosIn(stratum, set));
    return evidence(narrower, weights) + Math.log(PRIOR_NARROWER) > (scores[at] ?? 0);
  });
  const holds = evidence(withoutMost(own, weights), weights) >= Math.log(RATIO_WITHOUT_MIN);
  return { best: isBeaten || !holds ? undefined : best, probability: share(scores[at] ?? 0) / sum, none, speaking };
}

/** For each odds ratio, the logarithm of how much likelier the failures are than by chance; undefined if a set says nothing. */
type Ratios = readonly number[] | undefined;

function ratiosIn({ ran, failed, n, k }: Stratum, set: LegSet): Ratios {
  const m = countBoth(ran, set);
  return m === 0 || m === n ? undefined : tableOf(n, m, k)[countBoth(failed, set)];
}

/** A few megabytes for 200 legs. */
const TABLES_MAX = 5_000;
const tables = new Map<number, readonly number[][]>();

/**
 * By x: log P(x of the m fail | k of the n fail, odds ratio) / P(… | 1) for each odds ratio. Kept, because the same few
 * numbers come again and again.
 */
function tableOf(n: number, m: number, k: number): readonly number[][] {
  const key = (n * NEWEST_RESULTS_MAX + m) * NEWEST_RESULTS_MAX + k;
  const known = tables.get(key);
  if (known) return known;
  const least = Math.max(0, k - (n - m));
  const most = Math.min(m, k);
  const chances = Array.from(
    { length: most - least + 1 },
    (_, i) => logChoose(m, least + i) + logChoose(n - m, k - least - i),
  );
  const sumOf = (ratio: number): number => logSum(chances.map((chance, i) => chance + i * Math.log(ratio)));
  const even = sumOf(1);
  const norms = ODDS_RATIOS.map((ratio) => sumOf(ratio) - even);
  const made: number[][] = [];
  for (let x = least; x <= most; x++)
    made[x] = ODDS_RATIOS.map((ratio, r) => (x - least) * Math.log(ratio) - (norms[r] ?? 0));
  if (tables.size >= TABLES_MAX) tables.clear();
  tables.set(key, made);
  return made;
}

/** A stratum counts less, the more it would prove at most. */
function weightOf(ratios: readonly Ratios[]): number {
  let top = 0;
  for (const one of ratios) if (one) top = Math.max(top, ...one);
  return Math.min(1, Math.log(STRATUM_RATIO_MAX) / top);
}

function evidence(ratios: readonly Ratios[], weights: readonly number[]): number {
  const sums = sumsOf(ratios, weights);
  return logSum(sums) - Math.log(sums.length);
}

/** The evidence of all strata together, for each odds ratio. */
function sumsOf(ratios: readonly Ratios[], weights: readonly number[]): number[] {
  const sums = ODDS_RATIOS.map(() => 0);
  for (const [s, one] of ratios.entries())
    if (one) for (let r = 0; r < sums.length; r++) sums[r] = (sums[r] ?? 0) + (weights[s] ?? 0) * (one[r] ?? 0);
  return sums;
}

/** The ratios without the strata that speak most for the set, at the odds ratio that fits all of them best. */
function withoutMost(ratios: readonly Ratios[], weights: readonly number[]): Ratios[] {
  const sums = sumsOf(ratios, weights);
  const at = sums.indexOf(Math.max(...sums));
  const most = ratios
    .map((one, s) => ({ s, ratio: (weights[s] ?? 0) * (one?.[at] ?? 0) }))
    .sort((one, other) => other.ratio - one.ratio)
    .slice(0, LEFT_OUT);
  return ratios.map((one, s) => (most.some((left) => left.s === s) ? undefined : one));
}

function named(
  { kind, terms, legs: set }: Candidate,
  { probability, strata }: { probability: number; strata: number },
  legs: readonly string[],
  results: readonly LegResult[],
): NamedLegs {
  const isWithin = new Map(legs.map((leg, i) => [leg, hasLeg(set, i)]));
  const counts = { inside: { failed: 0, ran: 0 }, outside: { failed: 0, ran: 0 } };
  for (const { leg, isFailed } of results) {
    const side = isWithin.get(leg) ? counts.inside : counts.outside;
    side.ran++;
    if (isFailed) side.failed++;
  }
  const isOnly = counts.outside.failed <= ONLY_SHARE_MAX * counts.outside.ran;
  return { kind: kind === 'leg' ? 'leg' : 'axes', terms, isOnly, probability, strata, ...counts };
}

const logFactorials = [0];
function logFactorial(n: number): number {
  for (let i = logFactorials.length; i <= n; i++) logFactorials.push((logFactorials[i - 1] ?? 0) + Math.log(i));
  return logFactorials[n] ?? 0;
}
const logChoose = (n: number, k: number): number => logFactorial(n) - logFactorial(k) - logFactorial(n - k);

function logSum(logs: readonly number[]): number {
  const top = Math.max(...logs);
  return top + Math.log(logs.reduce((sum, one) => sum + Math.exp(one - top), 0));
}
