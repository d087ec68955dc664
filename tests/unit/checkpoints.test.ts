/** When what is believed of an identity becomes a checkpoint (src/evaluation/checkpoints.ts). */
import { expect, test } from 'bun:test';
import { passedOnly } from '../../src/domain/only-passed.ts';
import { emptySummary } from '../../src/domain/test-state.ts';
import { DAY_MS, dayOf } from '../../src/domain/time.ts';
import { advanceOf } from '../../src/evaluation/checkpoints.ts';
import type { StoredBelief } from '../../src/postgres/belief-text.ts';
import type { IdentityRecord } from '../../src/postgres/test-states.ts';
import { dayCounts } from '../support/counts.ts';

const BEGUN = Date.UTC(2026, 0, 5);

/** After a number of passes a day, since the beginning. */
const passed = (days: number, aDay: number): StoredBelief => ({
  at: { finishedAt: BEGUN + days * DAY_MS, runId: `r${days}`, runAttempt: 1, executionId: 1n },
  belief: passedOnly(days * aDay + 1, 'c1'),
});
const failed = ({ at, belief }: StoredBelief): StoredBelief => ({
  at,
  belief: { ...belief, trouble: { at: at?.finishedAt ?? 0, share: 0.5 } },
});
const recordOf = (belief: StoredBelief, days: number, aDay: number, checkpointAt: number): IdentityRecord => ({
  ...{ testId: 't', pipelineName: 'CI', jobName: 'unit', health: 'healthy', belief, checkpointAt },
  summary: { ...emptySummary, days: dayCounts(Array.from({ length: days }, (_, i) => [dayOf(BEGUN) + i, aDay, 0])) },
});

test('a test that passes has no checkpoint until it has passed 200 times, and then at most one a day', () => {
  const young = recordOf(passed(9, 20), 9, 20, 0);
  expect(advanceOf(young, passed(9.5, 20))).toEqual({ checkpointAt: 0, newer: undefined });
  const busy = recordOf(passed(10, 20), 10, 20, 0);
  const first = advanceOf(busy, passed(10.5, 20));
  expect(first).toEqual({ checkpointAt: busy.belief.at?.finishedAt ?? 0, newer: busy.belief });
  const often = recordOf(passed(11, 500), 11, 500, BEGUN + 10.5 * DAY_MS);
  expect(advanceOf(often, passed(11.2, 500)).newer).toBeUndefined();
  expect(advanceOf(often, passed(11.6, 500)).newer).toEqual(often.belief);
});

test('what was known before the first failure becomes one, however young', () => {
  const known = recordOf(passed(2, 3), 2, 3, 0);
  const after = failed(passed(2.1, 3));
  expect(advanceOf(known, after)).toEqual({ checkpointAt: BEGUN + 2 * DAY_MS, newer: known.belief });
  const next = recordOf(after, 3, 3, BEGUN + 2 * DAY_MS);
  expect(advanceOf(next, failed(passed(2.9, 3))).newer).toBeUndefined();
  expect(advanceOf(next, failed(passed(3.2, 3))).newer).toEqual(after);
});
