/** The made-up week of docs/cost.md: what ran, and what the merge queue did. */
import { DAY_MS, MINUTE_MS } from '../../src/domain/time.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { TEST_NOW } from './clock.ts';
import { makeEventsJob } from './events.ts';
import type { InsightsFixture } from './insights.ts';

export const WEEK = { start: Date.parse('2026-11-09T00:00:00Z'), end: Date.parse('2026-11-16T00:00:00Z') };
const TESTS = ['cart', 'mail', 'totals', 'pays'];
/** Tests that always pass: beside them, a failure says something about its test, not about the run. */
const STEADY = Array.from({ length: 40 }, (_, i) => `steady ${i}`);
const LENGTH_MS = 10 * MINUTE_MS;

interface WeekRun {
  /** Its first test ends then, its last one ten minutes later. */
  at: string;
  commit: string;
  pull?: number;
  attempt?: number;
  failed?: string[];
}

const RUNS: readonly WeekRun[] = [
  { at: '10T10:00', commit: 'a1', pull: 7, failed: ['cart'] },
  { at: '10T10:30', commit: 'a1', pull: 7, attempt: 2 },
  { at: '11T09:00', commit: 'b1', pull: 8, failed: ['cart', 'mail'] },
  { at: '11T09:20', commit: 'b1', pull: 8, attempt: 2, failed: ['mail'] },
  { at: '11T10:00', commit: 'b1', pull: 8, attempt: 3 },
  { at: '12T14:00', commit: 'c1', pull: 9, failed: ['totals'] },
  { at: '12T16:00', commit: 'c2', pull: 9 },
  ...['01', '05', '09', '13', '17'].map((hour) => ({ at: `13T${hour}:00`, commit: `m${hour}`, failed: ['pays'] })),
  { at: '14T08:05', commit: 'q1', pull: 900, failed: ['pays'] },
  { at: '14T09:05', commit: 'd1', pull: 11, failed: ['totals'] },
  { at: '15T12:00', commit: 'e1', pull: 12 },
  { at: '15T12:20', commit: 'e1', pull: 12, attempt: 2 },
];

const EVENTS = [
  { at: '14T08:00', pull: 10, type: 'action.queue.enter', metadata: {} },
  {
    at: '14T08:01',
    pull: 10,
    type: 'action.queue.checks_start',
    metadata: { speculative_check_pull_request: { number: 900, pull_request_numbers: [10] } },
  },
  { at: '14T08:20', pull: 10, type: 'action.queue.leave', metadata: { merged: false } },
  { at: '14T09:00', pull: 11, type: 'action.queue.enter', metadata: {} },
  { at: '14T09:20', pull: 11, type: 'action.queue.leave', metadata: { merged: false } },
] as const;

const momentOf = (at: string): number => Date.parse(`2026-11-${at}:00Z`);

/** The week, and a week before it in which everything passed. */
export async function ingestCostlyWeek(fixture: InsightsFixture): Promise<void> {
  const { clock, producers } = fixture.stores;
  const run = ({ at, commit, pull, attempt = 1, failed = [] }: WeekRun, begin = momentOf(at)) =>
    fixture.run(
      [...STEADY, ...TESTS, 'last'].map((name, i, all) => ({
        name,
        at: i === all.length - 1 ? begin + LENGTH_MS : begin,
        ...(failed.includes(name) && { status: 'failed' as const, failures: [{ message: `${name} failed` }] }),
      })),
      {
        run_id: commit,
        run_attempt: attempt,
        commit,
        ...(pull !== undefined && { branch: `change-${pull}`, base_ref: 'main', pull_request: pull }),
      },
    );
  const before = Array.from({ length: 8 }, (_, i) =>
    run({ at: '', commit: `before-${i}` }, WEEK.start - (1 + i) * DAY_MS),
  );
  await fixture.ingest(...before, ...RUNS.map((one) => run(one)));
  for (const { at, pull, type, metadata } of EVENTS) {
    clock.set(momentOf(at));
    const event = {
      key: `${at} ${pull}`,
      type,
      trigger: 'merge queue',
      pull_request: pull,
      base_ref: 'main',
      metadata,
    };
    await producers.of(prEvents).add(makeEventsJob(fixture.repository, [event]));
    await fixture.settle();
  }
  clock.set(TEST_NOW);
}
