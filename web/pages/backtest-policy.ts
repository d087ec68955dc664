/** The levels in a backtest's form, and the policy that a filled form asks for. */
import type {
  QUARANTINE_BROKEN_COMMITS_MIN,
  QUARANTINE_FLAKY_COMMITS_MIN,
  QUARANTINE_PROBABILITY_MIN,
} from '../../src/domain/judgement-constants.ts';
import type { NewBacktest } from '../api/queries.ts';

const HOUR_MS = 3_600_000;

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
