/**
 * A claim with its reasons: what speaks for the change, what against it, and what would decide. How much a piece of evidence says
 * is how the odds change without it, so the reasons are those of the probability and no others. Pure.
 */
import { flakyOf, newWeights, rateOf } from './belief-weights.ts';
import {
  CLAIM_SURE_FROM,
  type ClaimEvidence,
  type ClaimVerdict,
  claimVerdict,
  type Explanations,
  explanationsOf,
  RERUNS_MAX,
  rerunsNeeded,
} from './change-claim.ts';
import { grouped } from './grouped-number.ts';
import { otherLegsOf } from './other-legs.ts';
import type { Trouble } from './trouble-elsewhere.ts';

/** What can speak for a change or against it. */
export const CLAIM_SIGNS = [
  'default_branch',
  'failure_group',
  'same_code',
  'other_legs',
  'same_run',
  'trouble',
  'others_meanwhile',
  'other_pull_requests',
  'base_commit',
  'later_commits',
  'changed_files',
] as const;
type ClaimSign = (typeof CLAIM_SIGNS)[number];

interface ClaimReason {
  sign: ClaimSign;
  sentence: string;
  /** How many times likelier it makes that the change caused the failure; below 1, it speaks against that. */
  factor: number;
}

/** What the sentences name. */
export interface ClaimNames {
  /** Null if it is not known. */
  defaultBranch: string | null;
  /** Such as `unit (CI, os=linux)`. */
  leg: string;
  baseCommit: string | null;
  /** Since when the test was flaky or broken on the default branch; null if it is not known. */
  healthBeganAt: string | null;
  /** The changed file that is nearest to the test. */
  changedFile: string | null;
}

export interface Claim {
  /** That the change caused the failure. */
  probability: number;
  verdict: ClaimVerdict;
  explanations: Explanations;
  /** The strongest first. */
  for: ClaimReason[];
  against: ClaimReason[];
  /** What would decide; null if it is decided. `reruns` is null if no number of them up to 50 would. */
  needs: { reruns: number | null; sentence: string } | null;
}

/** Reasons that say less are left out. */
const FACTOR_MIN = 1.1;
const FACTOR_MAX = 10_000;

export function claimOf(evidence: ClaimEvidence, names: ClaimNames): Claim {
  const explanations = explanationsOf(evidence);
  const odds = oddsOf(explanations);
  const reasons = CLAIM_SIGNS.flatMap((sign): ClaimReason[] => {
    const { without, sentence } = SIGNS[sign];
    const rest = without(evidence);
    if (!rest) return [];
    const factor = rounded(odds / oddsOf(explanationsOf({ ...evidence, ...rest })));
    return factor >= FACTOR_MIN || factor <= 1 / FACTOR_MIN
      ? [{ sign, sentence: sentence(evidence, names), factor }]
      : [];
  });
  const verdict = claimVerdict(explanations, evidence);
  return {
    probability: explanations.change,
    verdict,
    explanations,
    for: reasons.filter(({ factor }) => factor > 1).sort((one, other) => other.factor - one.factor),
    against: reasons.filter(({ factor }) => factor < 1).sort((one, other) => one.factor - other.factor),
    needs: verdict === 'unknown' ? needsOf(evidence, names) : null,
  };
}

const oddsOf = ({ change }: Explanations): number => Math.max(change, 1e-9) / Math.max(1 - change, 1e-9);

/** Two digits are all that is known of it. */
const rounded = (factor: number): number =>
  Number(Math.min(FACTOR_MAX, Math.max(1 / FACTOR_MAX, factor)).toPrecision(2));

function needsOf(evidence: ClaimEvidence, { leg }: ClaimNames): NonNullable<Claim['needs']> {
  const needed = rerunsNeeded(evidence);
  const reruns = needed?.reruns ?? null;
  if (wouldPassDecide(evidence)) {
    const otherwise = needed
      ? ` ${many(needed.reruns, 'rerun')} in which all fail would show${shownBy(needed.verdict)}.`
      : '';
    return { reruns, sentence: `Hardly the change: one rerun of ${leg} that passes would show it.${otherwise}` };
  }
  return {
    reruns,
    sentence: needed
      ? `Not enough to say: ${many(needed.reruns, 'rerun')} of ${leg} would decide${ifAllFail(needed.verdict)}.`
      : `Not enough to say, and ${RERUNS_MAX} reruns of ${leg} would not decide.`,
  };
}

/** Whether only an execution of the same code is missing that shows what else it is. */
function wouldPassDecide(evidence: ClaimEvidence): boolean {
  const passed = { ...evidence, passes: evidence.passes + 1 };
  return (
    explanationsOf(evidence).change <= 1 - CLAIM_SURE_FROM && claimVerdict(explanationsOf(passed), passed) !== 'unknown'
  );
}

const shownBy = (verdict: ClaimVerdict): string =>
  verdict === 'change' ? ' that it is the change after all' : ' what it is';

const ifAllFail = (verdict: ClaimVerdict): string =>
  verdict === 'change' ? ': if all fail, it is the change, and each pass speaks against it' : ' if all fail';

interface Sign {
  /** The evidence as if this had not been seen; null if it has not. */
  without: (evidence: ClaimEvidence) => Partial<ClaimEvidence> | null;
  sentence: (evidence: ClaimEvidence, names: ClaimNames) => string;
}

const branchOf = ({ defaultBranch }: ClaimNames): string => defaultBranch ?? 'the default branch';

const SIGNS: Readonly<Record<ClaimSign, Sign>> = {
  default_branch: {
    without: ({ health }) =>
      health === null ? { health: 'healthy', weights: newWeights() } : { weights: newWeights() },
    sentence: historyInWords,
  },
  failure_group: {
    without: ({ defaultFailures }) => (defaultFailures === 0 ? null : { defaultFailures: 0 }),
    sentence: ({ isNewGroup }, names) =>
      isNewGroup
        ? `${branchOf(names)} has not failed in this way, though the test has failed there.`
        : `${branchOf(names)} has failed in the same way before.`,
  },
  same_code: {
    without: ({ failures, passes }) => (failures === 1 && passes === 0 ? null : { failures: 1, passes: 0 }),
    sentence: ({ failures, passes }) =>
      passes === 0
        ? `It failed in all of ${grouped(failures)} runs of this commit.`
        : `The same code passed ${times(passes)} and failed ${times(failures)}.`,
  },
  other_legs: {
    without: ({ otherLegs: { passed, failed } }) => (passed || failed > 0 ? { otherLegs: otherLegsOf(0, 0) } : null),
    sentence: ({ otherLegs: { passed, failed } }) =>
      failed === 0
        ? 'On this commit, it passes in its other legs.'
        : `On this commit, it also fails in ${failed === 1 ? 'another leg' : 'two other legs or more'}${passed ? ', and passes in others' : ''}.`,
  },
  same_run: {
    without: ({ together }) => (together === 1 ? null : { together: 1 }),
    sentence: ({ together, tests }, names) =>
      `${many(together - 1, 'other test')} of ${grouped(tests)} in the run failed that ${together === 2 ? 'is' : 'are'} healthy on ${branchOf(names)}.`,
  },
  trouble: {
    without: ({ trouble }) => (trouble ? { trouble: null } : null),
    sentence: ({ trouble }) => (trouble ? troubleInWords(trouble) : ''),
  },
  others_meanwhile: {
    without: ({ around, trouble }) => (around.changes === 0 || trouble ? null : { around: { changes: 0, failing: 0 } }),
    sentence: ({ around: { changes, failing } }, names) =>
      `Of ${many(changes, 'other change')} that ran within the hour, tests that are healthy on ${branchOf(names)} failed on ${failing}.`,
  },
  other_pull_requests: {
    without: ({ otherPullRequests }) => (otherPullRequests ? { otherPullRequests: null } : null),
    sentence: ({ otherPullRequests }) =>
      `It failed on ${many(otherPullRequests ?? 0, 'other pull request')} this week.`,
  },
  base_commit: {
    without: ({ base }) => (base ? { base: null } : null),
    sentence: ({ base }, { baseCommit }) =>
      `On the base commit ${baseCommit?.slice(0, 12) ?? ''}, it ${
        base?.failures === 0
          ? `passed ${times(base.passes)}`
          : base?.passes === 0
            ? `failed ${times(base.failures)}`
            : `passed ${times(base?.passes ?? 0)} and failed ${times(base?.failures ?? 0)}`
      }.`,
  },
  later_commits: {
    without: ({ laterFailures }) => (laterFailures ? { laterFailures: 0 } : null),
    sentence: ({ laterFailures }, names) =>
      `It has failed on ${branchOf(names)} ever since, on ${many(laterFailures ?? 0, 'later commit')}.`,
  },
  changed_files: {
    without: ({ nearness }) => (nearness === 1 ? null : { nearness: 1 }),
    sentence: ({ nearness }, { changedFile }) =>
      `The change touches ${changedFile === null ? 'nothing' : `${changedFile},`} near the test. Here, changes break such tests ${rounded(nearness)} times as often as others.`,
  },
};

function historyInWords({ health, weights }: ClaimEvidence, names: ClaimNames): string {
  const branch = branchOf(names);
  const since = names.healthBeganAt === null ? '' : ` since ${names.healthBeganAt}`;
  if (health === null) return `It has never run on ${branch}: the change may have added it.`;
  if (health === 'broken') return `It was broken on ${branch}${since} when it failed here.`;
  const rate = Math.max(1, Math.round(100 * rateOf(weights)));
  if (health === 'flaky') return `It was flaky on ${branch}${since}, where it fails in about ${rate}% of its runs.`;
  const flaky = 100 * flakyOf(weights);
  return `It was healthy on ${branch}: that it is flaky there has a probability of ${flaky < 1 ? 'less than 1' : Math.round(flaky)}%.`;
}

function troubleInWords({ sign, changes, isOnDefaultBranch }: Trouble): string {
  const others = `${many(changes, 'other change')}${isOnDefaultBranch ? ' and the default branch' : ''}`;
  return {
    run: 'Nearly everything failed in its run.',
    same_failures: `${others} failed in the same way at the time.`,
    same_message: `Tests of ${others} failed with the same message within the hour.`,
    rerun: 'Nearly all that failed in the run passed when the job ran again.',
  }[sign];
}

const many = (count: number, what: string): string => `${grouped(count)} ${what}${count === 1 ? '' : 's'}`;
const times = (count: number): string => (count === 1 ? 'once' : `${grouped(count)} times`);
