/**
 * The first failure of a row: does the next run fail, too? Nothing but the commit, the run and the other legs of the test can
 * say. Played on the second half of a history, because the factors for other legs were learned on the first.
 */
import type { Health } from '../../src/domain/status.ts';
import type { Share } from './calibration.ts';
import { legsOf, type RealHistory } from './real-history.ts';
import { SHARED_FAILURES } from './real-score.ts';
import { ServiceRules } from './service-rules.ts';

/** The verdict on a failure. */
interface Said {
  health: Health;
  failsNext: number;
}
interface Followed {
  atOnce: Said;
  /** Just before the next run. */
  later: Said;
  isFailedAgain: boolean;
}

export interface FirstFailures {
  /** How many fail again. */
  all: Share;
  /** By what the rules know. */
  scores: readonly (readonly [string, FirstFailureScore])[];
}

interface FirstFailureScore {
  /** Those said to be broken, and how many of them fail again. */
  broken: Share;
  /** How well the probability puts those that fail again before those that do not: 0.5 is a guess. */
  auc: number;
}

/** With and without other legs; just after the failure, and just before the next run. */
export function firstFailures(history: RealHistory): FirstFailures {
  const half = { ...history, runs: history.runs.slice(history.runs.length >> 1) };
  const alone = follow(half, new ServiceRules());
  const withLegs = follow(half, new ServiceRules({ legs: legsOf(history) }));
  return {
    all: shareOf(alone),
    scores: [
      ['without other legs', scoreOf(alone, ({ atOnce }) => atOnce)],
      ['just after the failure', scoreOf(withLegs, ({ atOnce }) => atOnce)],
      ['once all legs ran', scoreOf(withLegs, ({ later }) => later)],
    ],
  };
}

function follow({ runs }: RealHistory, rules: ServiceRules): Followed[] {
  const followed: Followed[] = [];
  const open = new Map<number, Said>();
  const said = (identity: number): Said => ({
    health: rules.health(identity),
    failsNext: rules.failsNext(identity),
  });
  for (const run of runs) {
    for (let i = 0; i < run.identities.length; i++) {
      const identity = run.identities[i] as number;
      const atOnce = open.get(identity);
      if (!atOnce) continue;
      followed.push({ atOnce, later: said(identity), isFailedAgain: run.troubles.has(identity) });
      open.delete(identity);
    }
    rules.takeIn(run);
    if (run.troubles.size >= SHARED_FAILURES) continue;
    for (const identity of run.troubles.keys()) if (rules.isFirstOfRow(identity)) open.set(identity, said(identity));
  }
  return followed;
}

const shareOf = (some: readonly Followed[]): Share => ({
  right: some.filter(({ isFailedAgain }) => isFailedAgain).length,
  of: some.length,
});

function scoreOf(followed: readonly Followed[], when: (one: Followed) => Said): FirstFailureScore {
  return {
    broken: shareOf(followed.filter((one) => when(one).health === 'broken')),
    auc: aucOf(followed.map((one) => ({ value: when(one).failsNext, isTrue: one.isFailedAgain }))),
  };
}

/** The area under the curve: how often one that is true has the higher value, of all pairs with one that is not. */
function aucOf(some: readonly { value: number; isTrue: boolean }[]): number {
  const groups = [...Map.groupBy(some, ({ value }) => value)].sort(([one], [other]) => one - other);
  let [before, pairs, trues] = [0, 0, 0];
  for (const [, group] of groups) {
    const right = group.filter(({ isTrue }) => isTrue).length;
    const wrong = group.length - right;
    pairs += right * (before + wrong / 2);
    before += wrong;
    trues += right;
  }
  return pairs / (trues * before);
}
