/** The red runs of a repository by day: why they were red, and the time that was lost. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { totalCost } from '../domain/cost.ts';
import { formatMoment } from '../domain/moment.ts';
import type { RedReason } from '../domain/red-run-reason.ts';
import { DAY_MS, MINUTE_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { branchesParameter } from '../http/parameters.ts';
import * as common from './common.ts';
import { inSixDecimals } from './cost-figures.ts';
import type { RedRunLedger, RedRunLedgers, RunDay } from './red-run-ledger.ts';
import { LONG_WINDOW_DAYS, longWindow, longWindowParameters } from './window.ts';

const count = (description: string, example: number) => z.int().meta({ description, example });
const minutes = (description: string, example: number) => z.number().meta({ description, example });

const figures = {
  runs: count('Runs: each attempt of each leg once', 240),
  red_runs: count('Those in which a test failed', 18),
  by_reason: z.object({
    infrastructure: count('Troubled runs: so much failed that it explains its failures', 3),
    change: count('A test failed that was healthy on the default branch, and never passed on the commit', 6),
    broken: count('What failed was unhealthy or passed on the commit, too, and a test was broken', 4),
    flaky: count('What failed was flaky, or passed on the commit, too', 5),
  }),
  outside: count('Green runs that ran again although no test of their attempt had failed', 1),
  rerun_minutes: minutes('Of CI in attempts that followed red or such green ones', 96.5),
  waiting_minutes: minutes('In which authors waited for a green run after a red one', 310),
  minutes_lost: minutes('Both together', 406.5),
};
const response = z.object({
  start: common.dateTimeOut,
  end: common.dateTimeOut,
  total: z.object({
    ...figures,
    pull_requests: count('Pull requests with a red run', 9),
    queue_departures: z.object({
      innocent: count('By failures that were not those of its change', 2),
      own: count('By a failure of its change', 1),
      unknown: count('No red run says why', 0),
    }),
  }),
  days: z
    .array(z.object({ start: common.dateTimeOut, ...figures }))
    .meta({ description: 'UTC days of the window, the oldest first; a run counts on the day on which it began' }),
});
export type RedRunsByDay = z.output<typeof response>;

export function mountRedRunsByDay(
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & { redRunLedgers: RedRunLedgers },
): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/red-runs/by-day', {
    operationId: 'countRedRuns',
    tag: common.TAG,
    summary: 'Count red runs by day and reason',
    description: `Why the runs of a repository were red, day by day, and the time that was lost. Each red run has one reason. The window is at most ${LONG_WINDOW_DAYS} days; up to a minute old.`,
    access: 'read',
    params: common.shortPath,
    query: {
      branch: branchesParameter({ description: 'Only runs of these branches.', example: ['main'] }),
      ...longWindowParameters(),
    },
    responses: { 200: { description: 'The days.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: path, query }) => {
      const window = ledgerWindow(query, deps.clock.now());
      const repository = await deps.repositories.find(path.owner, path.repository);
      const ledger = repository
        ? await deps.redRunLedgers.of(repository, { ...window, branches: query.branch })
        : EMPTY_LEDGER;
      return { body: toJson(ledger, window) };
    },
  });
}

/** Ends with a minute unless it is said, so that pages that ask at the same time share what is read. */
export function ledgerWindow(
  query: { start: number | undefined; end: number | undefined },
  now: number,
): { start: number; end: number } {
  const end = query.end ?? Math.ceil((now + 1) / MINUTE_MS) * MINUTE_MS;
  return longWindow({ start: query.start, end }, now);
}

export const EMPTY_LEDGER: RedRunLedger = {
  runs: [],
  days: new Map(),
  left: { innocent: 0, own: 0, unknown: 0 },
};

const NO_RUNS: RunDay = { runs: 0, outside: 0, outsideMs: 0 };

type Figures = Omit<z.input<typeof response>['days'][number], 'start'>;

function figuresOf(red: RedRunLedger['runs'], days: readonly RunDay[]): Figures {
  const { rerunMs, waitMs } = totalCost(red);
  const sum = (of: (day: RunDay) => number): number => days.reduce((total, day) => total + of(day), 0);
  const outsideMs = sum((day) => day.outsideMs);
  const ofReason = (reason: RedReason): number => red.filter((run) => run.reason === reason).length;
  return {
    runs: sum((day) => day.runs),
    red_runs: red.length,
    by_reason: {
      infrastructure: ofReason('infrastructure'),
      change: ofReason('change'),
      broken: ofReason('broken'),
      flaky: ofReason('flaky'),
    },
    outside: sum((day) => day.outside),
    rerun_minutes: inSixDecimals((rerunMs + outsideMs) / MINUTE_MS),
    waiting_minutes: inSixDecimals(waitMs / MINUTE_MS),
    minutes_lost: inSixDecimals((rerunMs + outsideMs + waitMs) / MINUTE_MS),
  };
}

function toJson(ledger: RedRunLedger, { start, end }: { start: number; end: number }): z.input<typeof response> {
  const first = Math.floor(start / DAY_MS);
  const last = Math.ceil(end / DAY_MS);
  const counted = ledger.runs.filter(({ isCounted }) => isCounted);
  const byDay = Map.groupBy(counted, ({ startedAt }) => Math.floor(startedAt / DAY_MS));
  return {
    start: formatMoment(start),
    end: formatMoment(end),
    total: {
      ...figuresOf(counted, [...ledger.days.values()]),
      pull_requests: totalCost(counted).pullRequests.size,
      queue_departures: ledger.left,
    },
    days: Array.from({ length: last - first }, (_, i) => first + i).map((day) => ({
      start: formatMoment(day * DAY_MS),
      ...figuresOf(byDay.get(day) ?? [], [ledger.days.get(day) ?? NO_RUNS]),
    })),
  };
}
