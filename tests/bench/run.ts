/** One run: a service on a new folder is filled, measured, and compared with the floors. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { KNOWN_TESTS_MAX } from '../../src/domain/rerun-plan.ts';
import { measureBacktest } from './backtests.ts';
import { type DataOptions, repositoryName } from './data.ts';
import { countPathsOf, fillLog, WINDOWS_DAYS, type WindowDays } from './events.ts';
import {
  countFigures,
  distinctFigures,
  duringIngestFigures,
  fillFigures,
  ingestFigures,
  judgedFigures,
  oneClientFigures,
  type Stored,
  storedFigures,
  visibleFigures,
} from './figures.ts';
import { joined, measureBares, measurePostgres } from './floors.ts';
import { fill, measureIngest, measureVisibility, startSteadyFeed, type TimedJobs } from './ingest.ts';
import { allowReruns, JUDGED, JUDGED_AT_ONCE, type Judged, judgedPathsOf } from './judged-reads.ts';
import { fillDirectly, measureMaintenance } from './maintenance.ts';
import {
  CONNECTIONS,
  measureReads,
  type Pace,
  PER_TEST,
  pathsOf,
  READS,
  type Read,
  type Targets,
  targetsOf,
} from './reads.ts';
import { type Figure, figure, withFloors } from './report.ts';
import { sampleAnswers } from './same-answers.ts';
import { BenchService } from './service.ts';

/** Enough for its rate, which is lower than that of the service. */
const FLOOR_TIMED_JOBS = 300;

export interface RunOptions {
  source: DataOptions;
  /** Whether the folder has all but the timed executions already. */
  isFilled: boolean;
  /** Whether those before the timed ones go through the queue, or are stored directly and rebuilt. */
  isFilledByQueue: boolean;
  /** Executions that arrive last and are timed. */
  timed: number;
  pace: Pace;
  /** Pace of one client with the reads that are compared with nothing. */
  judgedPace: Pace;
  /** In the log of one repository. */
  events: number;
  /** How long new tests are watched for. */
  watchSeconds: number;
  /** Whether the floors are measured, too. */
  hasFloors: boolean;
  /** Whether nothing but reads without other load is measured. */
  hasReadsOnly: boolean;
  /** Whether a start on the data, `verify` and `rebuild` are measured, too. */
  hasMaintenance: boolean;
}

/** @param figures what is measured is added here at once: it is not lost if a later measurement fails */
export async function runService(
  folder: string,
  options: RunOptions,
  say: (what: string) => void,
  figures: Figure[],
): Promise<Figure[]> {
  const { source, timed, pace } = options;
  const service = new BenchService(folder);
  try {
    figures.push(figure(options.isFilled ? 'start.filled' : 'start.empty', await service.start(), 's'));
    if (!options.isFilled) figures.push(...(await fillBefore(service, options, say)));
    say(`ingests ${timed}`);
    const ingested = await measureIngest(service, options.isFilled ? furtherOf(options) : lastJobsOf(options));
    figures.push(...ingestFigures(ingested, timed));

    await allowReruns(service);
    const targets = await targetsOf(service, source.seed, source.now);
    say(`reads ${targets.tests.length} tests`);
    const one = { callers: 1, ...pace };
    const pathsFor = (read: Read) => pathsOf(read, targets);
    const quiet = await measureReads(service, READS, pathsFor, one);
    const samples = options.hasFloors ? await sampleAnswers(service, targets) : [];
    const distinct = await measureReads(service, PER_TEST, pathsFor, { callers: CONNECTIONS, ...pace });
    figures.push(...distinctFigures(distinct), ...oneClientFigures(quiet));
    figures.push(...storedFigures(await storedIn(service, source.executions)));
    await fillLog(service, source.now, options.events);
    say('reads judgements, runs and the log');
    figures.push(...(await measureJudged(service, targets, options)));
    if (options.hasReadsOnly) return figures;

    say('reads while half of the rate arrives');
    const feed = await startSteadyFeed(service, source, ingested.perSecond / 2);
    try {
      figures.push(...visibleFigures(await measureVisibility(service, options.watchSeconds)));
      figures.push(...duringIngestFigures(await measureReads(service, READS, pathsFor, one), quiet));
    } finally {
      feed.stop();
    }
    if (options.hasMaintenance)
      figures.push(
        ...(await measureMaintenance(service, options.isFilledByQueue ? ['verify', 'rebuild'] : ['verify'], say)),
      );
    if (!options.hasFloors) return figures;
    const bares = await measureBares(service, targets, pace);
    // PostgreSQL has the machine to itself, as the service had.
    await service.stop();
    const { from: timedFrom, to } = lastJobsOf(options);
    const floor = join(folder, 'floor');
    const request = {
      folder: floor,
      source,
      timedFrom: Math.max(timedFrom, to - FLOOR_TIMED_JOBS),
      targets,
      samples,
      pace,
    };
    const floors = joined(await measurePostgres(request, say), bares);
    // A folder that stays has the data of the service alone.
    rmSync(floor, { recursive: true, force: true });
    return withFloors(figures, floors);
  } finally {
    await service.stop();
  }
}

/** Fills a folder that stays, and measures nothing else. */
export async function fillService(folder: string, options: RunOptions, say: (what: string) => void): Promise<Figure[]> {
  const service = new BenchService(folder);
  try {
    const started = figure('start.empty', await service.start(), 's');
    return [started, ...(await fillBefore(service, options, say))];
  } finally {
    await service.stop();
  }
}

/** With the executions before those that are timed. */
async function fillBefore(service: BenchService, options: RunOptions, say: (what: string) => void): Promise<Figure[]> {
  const { source, isFilledByQueue } = options;
  const { from } = lastJobsOf(options);
  say(`fills with ${from * source.chunk} executions`);
  if (!isFilledByQueue) return fillDirectly(service, source, from, say);
  return fillFigures(await fill(service, source, from, say));
}

/** The last executions of the source. */
function lastJobsOf({ source, timed }: RunOptions): TimedJobs {
  const to = Math.ceil(source.executions / source.chunk);
  return { source, from: to - Math.ceil(timed / source.chunk), to };
}

/** Jobs that no run has stored before, from now on. */
function furtherOf({ source, timed }: RunOptions): TimedJobs {
  const now = Date.now();
  const seed = 2 + (Math.floor(now / 1_000) % 1_000_000);
  const days = (source.days * timed) / source.executions;
  return { source: { ...source, seed, now, days, executions: timed }, from: 0, to: Math.ceil(timed / source.chunk) };
}

async function measureJudged(
  service: BenchService,
  targets: Targets,
  { source, pace, judgedPace }: RunOptions,
): Promise<Figure[]> {
  const one = { callers: 1, ...judgedPace };
  // All of the log is that of one owner.
  const many = { callers: CONNECTIONS, isPatient: true, ...pace };
  const pathsFor = (read: Judged) => judgedPathsOf(read, targets);
  const isLarge = source.tests > KNOWN_TESTS_MAX;
  // Test runners get no answer in a repository of more tests.
  const isAsked = (read: Judged): boolean => !isLarge || read !== 'reruns';
  const countsFor = (days: WindowDays) => countPathsOf(days, source.now);
  return [
    ...judgedFigures(
      await measureReads(service, JUDGED.filter(isAsked), pathsFor, one),
      await measureReads(service, JUDGED_AT_ONCE.filter(isAsked), pathsFor, many),
    ),
    ...countFigures(
      await measureReads(service, WINDOWS_DAYS, countsFor, one),
      await measureReads<WindowDays>(service, [1], countsFor, many),
    ),
    // One of a million tests takes twenty minutes, and would run beside all that is measured after it.
    ...(isLarge
      ? []
      : [figure('backtest.of_60_days', await measureBacktest(service, repositoryName(0), source.now), 's')]),
  ];
}

async function storedIn(service: BenchService, executions: number): Promise<Stored> {
  const [row] = await service.rows<{ identities: string; bytes: string }>(
    `select (select count(*) from ci_insights.identities) as identities,
       (select sum(pg_total_relation_size('ci_insights.' || name))
        from unnest(array['tests', 'test_listings', 'identities', 'suspects', 'failure_groups']) as name) as bytes`,
  );
  const { clickhouse, postgres } = service.diskBytes();
  return {
    executions,
    identities: Number(row?.identities),
    clickhouseBytes: clickhouse,
    postgresBytes: postgres,
    stateBytes: Number(row?.bytes),
  };
}
