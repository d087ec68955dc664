/** Every figure of the service with its goal. */
import type { WindowDays } from './events.ts';
import type { Ingested } from './ingest.ts';
import { type Judged, LISTED } from './judged-reads.ts';
import { type Memory, totalOf } from './memory.ts';
import { type Latency, quantile } from './quantile.ts';
import type { PerTest, Read } from './reads.ts';
import { type Figure, figure, type Goal } from './report.ts';

const MIB = 2 ** 20;

const PER_SECOND_MIN: Record<PerTest, number> = {
  details: 3_000,
  failures: 2_000,
  exact: 2_000,
  stats: 600,
  executions: 600,
};

/** Milliseconds for one client. */
const ONE_CLIENT_MAX: Record<Read, { median?: number; p99?: number }> = {
  details: { median: 2, p99: 10 },
  failures: { median: 2, p99: 10 },
  exact: { median: 2, p99: 10 },
  pattern: { median: 8 },
  part: { median: 8 },
  all: { median: 15 },
  stats: { p99: 60 },
  executions: { p99: 60 },
};
const LIST = { perSecond: { atLeast: 500 }, median: { atMost: 10 } };
const PAGE = { median: { atMost: 300 } };
const JUDGED_GOALS: Partial<Record<Judged, { perSecond?: Goal; median: Goal }>> = {
  ...Object.fromEntries(LISTED.map((read) => [read, LIST])),
  lanes: PAGE,
  cost: PAGE,
  red_runs_by_day: PAGE,
  red_runs: PAGE,
  commit_failures: { perSecond: { atLeast: 600 }, median: { atMost: 10 } },
};
const COUNTS_MAX: Record<WindowDays, Goal> = { 1: { atMost: 50 }, 7: { atMost: 100 }, 90: { atMost: 500 } };
const TIMES_DURING_INGEST_MAX = 3;
const P99_DURING_INGEST_MAX = 250;

export const distinctFigures = (measured: ReadonlyMap<PerTest, Latency>): Figure[] =>
  [...measured].flatMap(([read, { perSecond, median, p99 }]) => [
    figure(`${read}.64_connections`, perSecond, '/s', { atLeast: PER_SECOND_MIN[read] }),
    figure(`${read}.64_connections_median`, median, 'ms'),
    figure(`${read}.64_connections_p99`, p99, 'ms'),
  ]);

export const oneClientFigures = (measured: ReadonlyMap<Read, Latency>): Figure[] =>
  [...measured].flatMap(([read, { median, p99 }]) => {
    const { median: medianMax, p99: p99Max } = ONE_CLIENT_MAX[read];
    return [
      figure(`${read}.median`, median, 'ms', medianMax === undefined ? {} : { atMost: medianMax }),
      figure(`${read}.p99`, p99, 'ms', p99Max === undefined ? {} : { atMost: p99Max }),
    ];
  });

export const judgedFigures = (one: ReadonlyMap<Judged, Latency>, many: ReadonlyMap<Judged, Latency>): Figure[] => [
  ...[...many].flatMap(([read, { perSecond, median }]) => [
    figure(`${read}.64_connections`, perSecond, '/s', JUDGED_GOALS[read]?.perSecond),
    figure(`${read}.64_connections_median`, median, 'ms'),
  ]),
  ...[...one].flatMap(([read, { median, p99 }]) => [
    figure(`${read}.median`, median, 'ms', JUDGED_GOALS[read]?.median),
    figure(`${read}.p99`, p99, 'ms'),
  ]),
];

export const duringIngestFigures = (
  measured: ReadonlyMap<Read, Latency>,
  quiet: ReadonlyMap<Read, Latency>,
): Figure[] =>
  [...measured].flatMap(([read, { median, p99 }]) => [
    figure(`${read}.during_ingest`, median, 'ms'),
    figure(`${read}.during_ingest_times`, median / (quiet.get(read)?.median ?? Number.NaN), '', {
      atMost: TIMES_DURING_INGEST_MAX,
    }),
    figure(`${read}.during_ingest_p99`, p99, 'ms', { atMost: P99_DURING_INGEST_MAX }),
  ]);

/** Counts of the log over windows of some days: milliseconds for one client, and over the shortest for many. */
export const countFigures = (
  one: ReadonlyMap<WindowDays, Latency>,
  many: ReadonlyMap<WindowDays, Latency>,
): Figure[] => [
  ...[...many].map(([days, { perSecond }]) => figure(`event_counts_of_${days}_days.64_connections`, perSecond, '/s')),
  ...[...one].flatMap(([days, { median, p99 }]) => [
    figure(`event_counts_of_${days}_days.median`, median, 'ms', COUNTS_MAX[days]),
    figure(`event_counts_of_${days}_days.p99`, p99, 'ms'),
  ]),
];

/** Milliseconds from an upload to the details of its test. */
export const visibleFigures = (times: readonly number[]): Figure[] => [
  figure('visible.median', quantile(times, 0.5) / 1_000, 's'),
  figure('visible.p99', quantile(times, 0.99) / 1_000, 's', { atMost: 2 }),
];

export function ingestFigures({ perSecond, lateMs, before, most }: Ingested, executions: number): Figure[] {
  const kinds = Object.keys(most) as (keyof Memory)[];
  const growth = (totalOf(most) - totalOf(before)) / MIB;
  return [
    figure('ingest.evaluated', perSecond, 'executions/s', { atLeast: 30_000 }),
    figure('ingest.late_for', lateMs / 1_000, 's'),
    // The goal is for a million; fewer say nothing about it.
    figure('memory.growth', growth, 'MiB', executions >= 1_000_000 ? { atMost: 400 } : {}),
    ...kinds.map((kind) => figure(`memory.growth_${kind}`, ((most[kind] ?? 0) - (before[kind] ?? 0)) / MIB, 'MiB')),
    figure('memory.most', totalOf(most) / MIB, 'MiB'),
  ];
}

/** Memory while each tenth of the first executions arrived; those that arrived within a second say nothing. */
export const fillFigures = (tenths: readonly Memory[]): Figure[] =>
  tenths.flatMap((tenth, i) => {
    const bytes = totalOf(tenth);
    return bytes === 0 ? [] : [figure(`memory.tenth_${i + 1}`, bytes / MIB, 'MiB')];
  });

export interface Stored {
  executions: number;
  identities: number;
  clickhouseBytes: number;
  postgresBytes: number;
  /** Size of the tables with the state of tests. */
  stateBytes: number;
}

export const storedFigures = (stored: Stored): Figure[] => [
  figure('disk.clickhouse_per_million', (stored.clickhouseBytes / stored.executions) * (1_000_000 / MIB), 'MiB'),
  figure('disk.postgres_per_million', (stored.postgresBytes / stored.executions) * (1_000_000 / MIB), 'MiB'),
  figure(
    'disk.all_per_million',
    ((stored.clickhouseBytes + stored.postgresBytes) / stored.executions) * (1_000_000 / MIB),
    'MiB',
  ),
  figure('identities', stored.identities, ''),
  figure('disk.state_per_million_identities', (stored.stateBytes / stored.identities) * (1_000_000 / MIB), 'MiB'),
];
