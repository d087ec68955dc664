/** When a test is quarantined automatically, and when a quarantined test has recovered. Pure. */
import { type Belief, isSurelyHealthy, probabilitiesOf, verdictOf, type WeighedPlace } from './belief.ts';
import { percent } from './health-confidence.ts';
import {
  QUARANTINE_BROKEN_COMMITS_MIN,
  QUARANTINE_BROKEN_MS_MIN,
  QUARANTINE_EVIDENCE_MS,
  QUARANTINE_FLAKY_COMMITS_MIN,
  QUARANTINE_PROBABILITY_MIN,
  RECOVERY_MS_MIN,
} from './judgement-constants.ts';

/** For so long after a quarantine was removed, that can be undone. Longer, and its effect would count what it did not excuse. */
export const QUARANTINE_RESTORE_MINUTES = 60;

/** Which tests of a repository are quarantined automatically. */
export const AUTO_QUARANTINE_MODES = ['off', 'flaky', 'flaky+broken'] as const;
export type AutoQuarantineMode = (typeof AUTO_QUARANTINE_MODES)[number];

/** Tests that a mode quarantines: where flaky tests are not looked for, broken ones at most. */
export type QuarantineSearch = AutoQuarantineMode | 'broken';

export function quarantineSearch(mode: AutoQuarantineMode, isFlakyDetectionEnabled: boolean): QuarantineSearch {
  if (isFlakyDetectionEnabled) return mode;
  return mode === 'flaky+broken' ? 'broken' : 'off';
}

/** The name of a change of the mode in the event log; undefined if nothing changed. */
export function autoQuarantineChange(
  before: AutoQuarantineMode,
  after: AutoQuarantineMode,
): 'enabled' | 'disabled' | 'modified' | undefined {
  if (before === after) return undefined;
  if (before === 'off') return 'enabled';
  return after === 'off' ? 'disabled' : 'modified';
}

/** Who made a quarantine: a person or a client, or the evaluation. */
export const QUARANTINE_SOURCES = ['manual', 'auto'] as const;
export type QuarantineSource = (typeof QUARANTINE_SOURCES)[number];

/** How many days before its end a quarantine is announced to end, unless the repository says otherwise. */
export const QUARANTINE_WARNING_DAYS_DEFAULT = 3;
export const QUARANTINE_WARNING_DAYS_MAX = 90;

/** The most that `--quarantine-limit` may be: a repository with more has no use for a limit. */
export const QUARANTINE_LIMIT_MAX = 100_000;

/** Evidence that a test must have shown, by the names of the constants. Only a backtest changes them. */
export const QUARANTINE_CONSTANTS = {
  QUARANTINE_PROBABILITY_MIN,
  QUARANTINE_FLAKY_COMMITS_MIN,
  QUARANTINE_BROKEN_COMMITS_MIN,
  QUARANTINE_BROKEN_MS_MIN,
} as const;
export type QuarantineConstant = keyof typeof QUARANTINE_CONSTANTS;
export type QuarantineConstants = Readonly<Record<QuarantineConstant, number>>;

/** The belief about one identity of a test, now. */
export interface QuarantineEvidence {
  pipelineName: string;
  jobName: string;
  belief: Belief;
  /** When its newest execution finished; milliseconds since the epoch. */
  newestAt: number;
}

/** Why a test should be quarantined. */
export interface QuarantineCause {
  /** With its evidence, in a sentence for people. */
  reason: string;
  /** Ids of the executions that decided. */
  executionIds: readonly string[];
}

/**
 * Why the test should be quarantined; undefined if it should not.
 *
 * @param identities Those that ran lately, which are those that the health of the test covers.
 * @param releasedAt When a person last released the test: what had finished by then does not count against it again. 0 for
 * never; milliseconds since the epoch.
 */
export function quarantineCause(
  search: QuarantineSearch,
  identities: readonly QuarantineEvidence[],
  releasedAt: number,
  constants: QuarantineConstants = QUARANTINE_CONSTANTS,
): QuarantineCause | undefined {
  if (search === 'off') return undefined;
  const causeOf = (find: typeof flakyCause): QuarantineCause | undefined => {
    for (const one of identities) {
      const cause = find(one, releasedAt, constants);
      if (cause) return cause;
    }
    return undefined;
  };
  const flaky = search === 'broken' ? undefined : causeOf(flakyCause);
  return flaky ?? (search === 'flaky' ? undefined : causeOf(brokenCause));
}

/** Only executions that its own flakiness explains best count: not those that a troubled run explains. */
function flakyCause(
  one: QuarantineEvidence,
  releasedAt: number,
  constants: QuarantineConstants,
): QuarantineCause | undefined {
  const { status, evidence } = verdictOf(one.belief);
  const { flaky, flakyRate } = probabilitiesOf(one.belief);
  if (status !== 'flaky' || flaky < constants.QUARANTINE_PROBABILITY_MIN) return undefined;
  const since = Math.max(releasedAt, one.newestAt - QUARANTINE_EVIDENCE_MS);
  const counted = evidence.filter(({ commit, finishedAt }) => commit !== '' && finishedAt > since);
  const commits = commitsOf(counted);
  if (commits.length < constants.QUARANTINE_FLAKY_COMMITS_MIN) return undefined;
  return {
    reason: `Flaky in ${place(one)} with a probability of ${percent(flaky)}: fails in about ${rate(flakyRate)} of its runs when nothing else does, lately on ${listed(commits)}.`,
    executionIds: counted.map(({ executionId }) => executionId),
  };
}

/** The failures since the last pass. Of a long row, the belief keeps the first and the newest commits. */
function brokenCause(
  one: QuarantineEvidence,
  releasedAt: number,
  constants: QuarantineConstants,
): QuarantineCause | undefined {
  const { status, probability, evidence } = verdictOf(one.belief);
  const [begun] = evidence;
  if (status !== 'broken' || !begun || probability < constants.QUARANTINE_PROBABILITY_MIN) return undefined;
  const since = Math.max(releasedAt, begun.finishedAt - 1);
  const counted = evidence.filter(({ finishedAt }) => finishedAt > since);
  const newest = one.belief.failingCommits
    .filter(({ at }) => at > since)
    .map(({ commit, at }) => ({ commit, finishedAt: at }));
  const failures = [...counted, ...newest];
  const commits = commitsOf(failures);
  const moments = failures.map(({ finishedAt }) => finishedAt);
  const [firstAt, newestAt] = [Math.min(...moments), Math.max(...moments)];
  const isLong = newestAt - firstAt >= constants.QUARANTINE_BROKEN_MS_MIN;
  if (commits.length < constants.QUARANTINE_BROKEN_COMMITS_MIN || !isLong) return undefined;
  return {
    reason: `Broken in ${place(one)} with a probability of ${percent(probability)}: failed on ${listed(commits)} without a pass, from ${date(firstAt)} to ${date(newestAt)}.`,
    executionIds: counted.map(({ executionId }) => executionId),
  };
}

/** Known ones, in order of their first failure. */
const commitsOf = (failures: readonly Pick<WeighedPlace, 'commit' | 'finishedAt'>[]): string[] => [
  ...new Set(
    failures
      .toSorted((one, other) => one.finishedAt - other.finishedAt)
      .flatMap(({ commit }) => (commit === '' ? [] : [commit])),
  ),
];

/** A name is cut: a commit may have one of 1,000 characters. A hash is shown by its first digits, as Git does. */
const NAME_LENGTH_SHOWN = 40;
const HASH = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/;
const HASH_LENGTH_SHOWN = 10;
const COMMITS_SHOWN = 4;

function listed(commits: readonly string[]): string {
  const shown = commits
    .slice(-COMMITS_SHOWN)
    .map((commit) => commit.slice(0, HASH.test(commit) ? HASH_LENGTH_SHOWN : NAME_LENGTH_SHOWN));
  const more = commits.length - shown.length;
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more commit${more > 1 ? 's' : ''} before` : ''}`;
}

const place = ({ pipelineName, jobName }: QuarantineEvidence): string => `${pipelineName} / ${jobName}`;
const rate = (share: number): string =>
  `${share >= 0.1 ? Math.round(100 * share) : Number((100 * share).toPrecision(1))}%`;
const date = (at: number): string => `${new Date(at).toISOString().slice(0, 16).replace('T', ' ')} UTC`;

/** The belief about one identity of a quarantined test, and when its newest execution finished. */
export interface RecoveryEvidence {
  belief: Belief;
  /** Milliseconds since the epoch. */
  newestAt: number;
}

/**
 * Whether every identity that ran recently is surely healthy, and has run for {@link RECOVERY_MS_MIN} since the quarantine
 * was made; false without any. Only a test that is called flaky or broken again ceases to have recovered.
 */
export function isRecovered(identities: readonly RecoveryEvidence[], quarantinedAt: number): boolean {
  return (
    identities.length > 0 &&
    identities.every(({ belief, newestAt }) => isSurelyHealthy(belief) && newestAt >= quarantinedAt + RECOVERY_MS_MIN)
  );
}
