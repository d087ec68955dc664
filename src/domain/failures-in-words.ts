/**
 * What failed on a commit, in one sentence: is it the change, and does the gate let it pass? The API says it of a commit and
 * of a pull request, and the gate of a job. Pure.
 */
import { COMMIT_VERDICTS, type CommitVerdict } from './commit-verdict.ts';
import { grouped } from './grouped-number.ts';
import { DAY_MS } from './time.ts';

/** `unknown`: a gate that has no verdict on a test. */
export type FailureCounts = Readonly<Partial<Record<CommitVerdict | 'unknown', number>>>;

export interface FailuresToSay {
  counts: FailureCounts;
  /** The name of the default branch; null if it is not known. */
  defaultBranch: string | null;
  /** Since when the first of those that are broken there fails; milliseconds since the epoch. Null if it is not known. */
  brokenSince: number | null;
  now: number;
  /** How a gate has decided. Absent: it is said what one would decide that excuses nothing but what is quarantined. */
  isPassed?: boolean;
}

/** Such as "Not your change: 7 failures, 5 also fail on main since Tuesday, 2 quarantined; the gate fails." */
export function failuresInWords(failures: FailuresToSay): string {
  const { counts } = failures;
  const total = ORDER.reduce((sum, verdict) => sum + (counts[verdict] ?? 0), 0);
  const gate = failures.isPassed === undefined ? gateInWords(counts) : failures.isPassed ? PASSES : FAILS;
  if (total === 0) return `Nothing failed; ${gate}.`;
  const parts = ORDER.flatMap((verdict) => {
    const count = counts[verdict] ?? 0;
    return count === 0 ? [] : [partInWords(verdict, count, count === total, failures)];
  });
  const subject = `${grouped(total)} ${total === 1 ? 'failure' : 'failures'}`;
  return `${whoseInWords(counts)}: ${[subject, ...parts].join(', ')}; ${gate}.`;
}

const ORDER = ['new', 'unknown', ...COMMIT_VERDICTS.filter((verdict) => verdict !== 'new')] as const;
const PASSES = 'the gate passes';
const FAILS = 'the gate fails';

function whoseInWords({ new: fresh = 0, unknown = 0 }: FailureCounts): string {
  if (fresh > 0) return 'Probably your change';
  return unknown > 0 ? 'It is not known whose fault it is' : 'Not your change';
}

const ADJECTIVES = {
  new: 'new',
  unknown: 'without a verdict',
  known_flaky: 'known to be flaky',
  infrastructure: 'caused by the infrastructure',
  quarantined: 'quarantined',
} as const;

/** @param isWhole whether there is no failure but these */
function partInWords(
  verdict: (typeof ORDER)[number],
  count: number,
  isWhole: boolean,
  { defaultBranch, brokenSince, now }: FailuresToSay,
): string {
  if (verdict !== 'broken') return `${quantity(count, isWhole)}${ADJECTIVES[verdict]}`;
  const branch = defaultBranch ?? 'the default branch';
  const since = brokenSince === null ? '' : ` since ${dayInWords(brokenSince, now)}`;
  if (count === 1) return `${isWhole ? 'which' : '1'} also fails on ${branch}${since}`;
  return `${isWhole ? 'which all' : grouped(count)} also fail on ${branch}${since}`;
}

const quantity = (count: number, isWhole: boolean): string =>
  isWhole ? (count === 1 ? '' : 'all ') : `${grouped(count)} `;

/** A gate always excuses what is quarantined, and what is flaky or broken if it is told to. */
function gateInWords(counts: FailureCounts): string {
  const { new: fresh = 0, unknown = 0, infrastructure = 0, broken = 0, known_flaky: flaky = 0 } = counts;
  if (fresh + unknown + infrastructure > 0) return FAILS;
  const excuses = [...(flaky > 0 ? ['flaky'] : []), ...(broken > 0 ? ['broken'] : [])];
  return excuses.length === 0 ? PASSES : `${FAILS}, unless it excuses ${excuses.join(' and ')} tests`;
}

const WEEK_DAYS = 7;
const WEEKDAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'] as const;

/** A UTC day: by its name within the last week, else by its date. */
function dayInWords(at: number, now: number): string {
  const days = Math.floor(now / DAY_MS) - Math.floor(at / DAY_MS);
  if (days <= 0) return 'today';
  if (days === 1) return 'yesterday';
  const date = new Date(at);
  return (days < WEEK_DAYS ? WEEKDAYS[date.getUTCDay()] : undefined) ?? date.toISOString().slice(0, 10);
}
