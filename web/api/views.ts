/** What pages ask for, from what is in their addresses: asked by the page, and before it is there (../reads.ts). */

import { patternOf } from '../ui/search-text.ts';
import { daysUpTo } from '../ui/utc.ts';
import type { Query } from './client.ts';
import { logQuery } from './events.ts';
import type { RepositoryPath, TimeWindow } from './paths.ts';
import { searchQuery } from './tests.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** To the hour, so that the same view asks for the same window. */
const nextHour = (now: number): number => Math.ceil(now / HOUR_MS) * HOUR_MS;

export interface TestsView {
  q?: string | undefined;
  pipeline?: string | undefined;
  job?: string | undefined;
  axis?: string | undefined;
  health?: 'healthy' | 'flaky' | 'calm' | 'broken' | undefined;
  quarantined?: 'true' | 'false' | undefined;
  ownedBy?: string | undefined;
  /** Only tests without an owner. */
  unowned?: true | undefined;
  sort?: string | undefined;
  direction?: 'asc' | 'desc' | undefined;
}

export const testsViewQuery = (
  path: RepositoryPath,
  { q = '', pipeline, job, axis, health, quarantined, ownedBy, unowned, sort = 'health_status', direction }: TestsView,
) =>
  searchQuery(path, {
    test_name: q === '' ? undefined : patternOf(q),
    pipeline_name: pipeline,
    job_name: job,
    axis,
    health_status: health === 'calm' ? 'flaky' : health,
    is_active: health === 'flaky' ? 'true' : health === 'calm' ? 'false' : undefined,
    is_quarantined: quarantined,
    owner: unowned ? '' : ownedBy,
    sort,
    direction,
  });

type Days = '1' | '7' | '30' | '90';
/** Length of the window of a test, unless the address says otherwise. */
export const TEST_DAYS = '30';

export interface TestView {
  days?: Days | undefined;
  from?: string | undefined;
  to?: string | undefined;
}

export function testWindow({ days = TEST_DAYS, from, to }: TestView, now: number): TimeWindow {
  if (from !== undefined && to !== undefined) return { start: from, end: to };
  const end = nextHour(now);
  if (days === '1') return isoWindow({ start: end - DAY_MS, end });
  return isoWindow(daysUpTo(end - 1, Number(days)));
}

const isoWindow = ({ start, end }: { start: number; end: number }): TimeWindow => ({
  start: new Date(start).toISOString(),
  end: new Date(end).toISOString(),
});

/** How many days of events the page of a pull request shows. */
export const PULL_EVENTS_DAYS = '90';

export const pullEventsQuery = (path: RepositoryPath, number: number, now: number) =>
  logQuery(path, {
    pull_request: number,
    received_from: new Date(nextHour(now) - Number(PULL_EVENTS_DAYS) * DAY_MS).toISOString(),
  });

export interface HistoryView {
  days?: string | undefined;
  /** `attempts`: executions of which an attempt failed, also those that passed in the end. */
  result?: string | undefined;
  branch?: string | undefined;
  pull?: string | undefined;
  /** Pipeline, CI job and axes, as JSON. */
  leg?: string | undefined;
}

export function historyView({ days = '30', result, branch, pull, leg }: HistoryView, now: number): Query {
  return {
    ...isoWindow(daysUpTo(nextHour(now) - 1, Number(days))),
    status: result === 'attempts' ? undefined : result,
    has_failed: result === 'attempts' ? 'true' : undefined,
    branch,
    pull_request: pull,
    ...legFilter(leg),
  };
}

/** Nothing for what is no leg: addresses are typed by people, too. */
function legFilter(leg: string | undefined): Query {
  try {
    const read: unknown = JSON.parse(leg ?? '[]');
    const [pipeline, job, axes]: unknown[] = Array.isArray(read) ? read : [];
    if (typeof pipeline !== 'string' || typeof job !== 'string') return {};
    const pairs = Object.entries(axes ?? {}).map(([name, value]) => `${name}:${value}`);
    return { pipeline_name: pipeline, job_name: job, axis: pairs };
  } catch {
    return {};
  }
}
