/** One run: a service on a new folder is filled, measured, and compared with the floors. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
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
import { fill, measureIngest, measureVisibility, startSteadyFeed } from './ingest.ts';
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
  /** Whether those before the timed ones go through the queue, or are stored directly and rebuilt. */
  isFilledByQueue: boolean;
  /** Of the executions, those that arrive last and are timed. */
  timed: number;
  pace: Pace;
  /** Of one client with the reads that are compared with nothing. */
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

export async function runService(folder: string, options: RunOptions, say: (what: string) => void): Promise<Figure[]> {
  const { source, timed, pace } = options;
  const service = new BenchService(folder);
  const figures: Figure[] = [];
  try {
    figures.push(figure('start.empty', await service.start(), 's'));

    const jobs = Math.ceil(source.executions / source.chunk);
    const from = jobs - Math.ceil(timed / source.chunk);
    say(`fills with ${source.executions - timed} executions`);
    if (options.isFilledByQueue) figures.push(...fillFigures(await fill(service, source, from)));
    else figures.push(...(await fillDirectly(service, source, from, say)));
    say(`ingests ${timed}`);
    const ingested = await measureIngest(service, source, { from, to: jobs });
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
    const floor = join(folder, 'floor');
    const request = {
      folder: floor,
      source,
      timedFrom: Math.max(from, jobs - FLOOR_TIMED_JOBS),
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

async function measureJudged(
  service: BenchService,
  targets: Targets,
  { source, pace, judgedPace }: RunOptions,
): Promise<Figure[]> {
  const one = { callers: 1, ...judgedPace };
  // All of the log is that of one owner.
  const many = { callers: CONNECTIONS, isPatient: true, ...pace };
  const pathsFor = (read: Judged) => judgedPathsOf(read, targets);
  const countsFor = (days: WindowDays) => countPathsOf(days, source.now);
  return [
    ...judgedFigures(
      await measureReads(service, JUDGED, pathsFor, one),
      await measureReads(service, JUDGED_AT_ONCE, pathsFor, many),
    ),
    ...countFigures(
      await measureReads(service, WINDOWS_DAYS, countsFor, one),
      await measureReads<WindowDays>(service, [1], countsFor, many),
    ),
    figure('backtest.of_60_days', await measureBacktest(service, repositoryName(0), source.now), 's'),
  ];
}

async function storedIn(service: BenchService, executions: number): Promise<Stored> {
  const [row] = await service.rows<{ identities: string; bytes: string }>(
    `select (select count(*) from ci_insights.identities) as identities,
       (select sum(pg_total_relation_size('ci_insights.' || name))
        from unnest(array['tests', 'identities', 'health_checkpoints', 'failure_groups']) as name) as bytes`,
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
