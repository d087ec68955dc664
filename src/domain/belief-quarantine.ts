/** When a test is quarantined automatically as flaky, by what is believed of it (belief.ts). Pure. */
import { type Belief, probabilitiesOf, verdictOf } from './belief.ts';
import { DAY_MS } from './time.ts';

const PROBABILITY_MIN = 0.95;
/** One red commit never quarantines a test, however often it runs. */
const COMMITS_MIN = 2;
/** How far apart the executions that count may be. */
const EVIDENCE_MS = 30 * DAY_MS;

/**
 * Why the test should be quarantined, with its evidence, in a sentence for people; null if it should not. Only
 * executions that its own flakiness explains best count: not those that a troubled run explains.
 */
export function flakyQuarantineReason(belief: Belief): string | null {
  const { status, evidence } = verdictOf(belief);
  const { flaky, flakyRate } = probabilitiesOf(belief);
  const since = (evidence.at(-1)?.finishedAt ?? 0) - EVIDENCE_MS;
  const counted = evidence.filter(({ commit, finishedAt }) => commit !== '' && finishedAt >= since);
  const commits = new Set(counted.map(({ commit }) => commit));
  if (status !== 'flaky' || flaky < PROBABILITY_MIN || commits.size < COMMITS_MIN) return null;
  const rate = flakyRate >= 0.1 ? Math.round(100 * flakyRate) : Number((100 * flakyRate).toPrecision(1));
  return `Flaky with a probability of ${Math.floor(1000 * flaky) / 10} %: fails in about ${rate} % of its runs when nothing else does, lately on ${[...commits].join(', ')}.`;
}
