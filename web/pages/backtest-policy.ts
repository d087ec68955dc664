/** The levels in a backtest's form, and the policy that a filled form asks for. */
import type {
  QUARANTINE_BROKEN_COMMITS_MIN,
  QUARANTINE_FLAKY_COMMITS_MIN,
  QUARANTINE_PROBABILITY_MIN,
} from '../../src/domain/judgement-constants.ts';
import type { BacktestAnswer } from '../../src/quarantines/backtests.ts';
import type { NewBacktest } from '../api/queries.ts';
import { formatUtcDay } from '../ui/utc.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const DAYS_DEFAULT = 60;

type Policy = BacktestAnswer['policy'];

/** Each with the value in force, which the form begins with. */
export const LEVELS = [
  {
    name: 'probability',
    label: 'Least probability',
    value: 0.95 satisfies typeof QUARANTINE_PROBABILITY_MIN,
    ...{ min: 0, max: 1, step: 'any' },
  },
  {
    name: 'flaky_commits',
    label: 'Flaky on so many commits',
    value: 2 satisfies typeof QUARANTINE_FLAKY_COMMITS_MIN,
    ...{ min: 1, max: 1_000, step: 1 },
  },
  {
    name: 'broken_commits',
    label: 'Broken on so many commits',
    value: 3 satisfies typeof QUARANTINE_BROKEN_COMMITS_MIN,
    ...{ min: 1, max: 1_000, step: 1 },
  },
  { name: 'broken_hours', label: 'Broken for so many hours', value: 24, ...{ min: 0, max: 720, step: 'any' } },
] as const;

/** What a form asks for. Its fields have the bounds of the policy, and the service checks them again. */
export function policyOf(form: FormData): NewBacktest {
  const number = (name: (typeof LEVELS)[number]['name']): number => Number(form.get(name));
  return {
    auto_quarantine: form.get('mode') === 'flaky' ? 'flaky' : 'flaky+broken',
    since: `${String(form.get('since'))}T00:00:00Z`,
    is_narrowed: form.has('narrowed'),
    constants: {
      QUARANTINE_PROBABILITY_MIN: number('probability'),
      QUARANTINE_FLAKY_COMMITS_MIN: number('flaky_commits'),
      QUARANTINE_BROKEN_COMMITS_MIN: number('broken_commits'),
      QUARANTINE_BROKEN_MS_MIN: Math.round(number('broken_hours') * HOUR_MS),
    },
  };
}

/** What a form begins with. */
export interface FormValues {
  mode: NewBacktest['auto_quarantine'];
  /** A UTC day. */
  since: string;
  isNarrowed: boolean;
  levels: Record<(typeof LEVELS)[number]['name'], number>;
}

const dayOf = (at: number): string => new Date(at).toISOString().slice(0, 10);

/** @param policy of the backtest that is open; undefined: the levels in force, over the last weeks */
export function valuesOf(policy: Policy | undefined, now: number): FormValues {
  const constants = policy?.constants ?? {};
  const brokenMs = constants.QUARANTINE_BROKEN_MS_MIN;
  const [probability, flaky, broken, hours] = LEVELS;
  return {
    mode: policy?.auto_quarantine === 'flaky+broken' ? 'flaky+broken' : 'flaky',
    since: dayOf(policy ? Date.parse(policy.since) : now - DAYS_DEFAULT * DAY_MS),
    isNarrowed: policy?.is_narrowed ?? false,
    levels: {
      probability: constants.QUARANTINE_PROBABILITY_MIN ?? probability.value,
      flaky_commits: constants.QUARANTINE_FLAKY_COMMITS_MIN ?? flaky.value,
      broken_commits: constants.QUARANTINE_BROKEN_COMMITS_MIN ?? broken.value,
      broken_hours: brokenMs === undefined ? hours.value : brokenMs / HOUR_MS,
    },
  };
}

const MODES: Record<Policy['auto_quarantine'], string> = {
  off: 'Nothing',
  flaky: 'Flaky tests',
  'flaky+broken': 'Flaky and broken tests',
};

/** A policy in words: what differs from the levels in force is named. */
export function policyInWords(policy: Policy): string {
  const { levels } = valuesOf(policy, 0);
  const changed = LEVELS.filter(({ name, value }) => levels[name] !== value).map(
    ({ name, label }) => `${label.toLowerCase()} ${levels[name]}`,
  );
  return [
    `${MODES[policy.auto_quarantine]} since ${formatUtcDay(Date.parse(policy.since))}`,
    ...(policy.is_narrowed ? ['only failures of the kinds that decided'] : []),
    ...changed,
  ].join(', ');
}
