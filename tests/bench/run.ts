/** One run: a service on a new folder is filled, measured, and compared with the floors. */
import { join } from 'node:path';
import type { DataOptions } from './data.ts';
import { fillLog, measureCounts } from './events.ts';
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
import { measureMaintenance } from './maintenance.ts';
import { CONNECTIONS, JUDGED, JUDGED_AT_ONCE, measureReads, type Pace, PER_TEST, READS, targetsOf } from './reads.ts';
import { type Figure, figure, withFloors } from './report.ts';
import { sampleAnswers } from './same-answers.ts';
import { BenchService } from './service.ts';

/** Enough for its rate, which is lower than that of the service. */
const FLOOR_TIMED_JOBS = 300;

export interface RunOptions {
  source: DataOptions;
  /** Of the executions, those that arrive last and are timed. */
  timed: number;
  pace: Pace;
  /** In the log of one repository. */
  events: number;
  /** How long new tests are watched for. */
  watchSeconds: number;
  /** Whether the floors are measured, too. */
  hasFloors: boolean;
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
    figures.push(...fillFigures(await fill(service, source, from)));
    say(`ingests ${timed}`);
    const ingested = await measureIngest(service, source, { from, to: jobs });
    figures.push(...ingestFigures(ingested, timed));

    const targets = await targetsOf(service, source.seed, source.now);
    say(`reads ${targets.tests.length} tests`);
    const quiet = await measureReads(service, READS, targets, 1, pace);
    const samples = options.hasFloors ? await sampleAnswers(service, targets) : [];
    figures.push(...distinctFigures(await measureReads(service, PER_TEST, targets, CONNECTIONS, pace)));
    const judged = await measureReads(service, JUDGED, targets, 1, pace);
    figures.push(...judgedFigures(judged, await measureReads(service, JUDGED_AT_ONCE, targets, CONNECTIONS, pace)));
    figures.push(...oneClientFigures(quiet), ...storedFigures(await storedIn(service, source.executions)));

    say('counts events');
    await fillLog(service, source.now, options.events);
    figures.push(...countFigures(await measureCounts(service, source.now, pace)));

    say('reads while half of the rate arrives');
    const feed = await startSteadyFeed(service, source, ingested.perSecond / 2);
    try {
      figures.push(...visibleFigures(await measureVisibility(service, options.watchSeconds)));
      figures.push(...duringIngestFigures(await measureReads(service, READS, targets, 1, pace), quiet));
    } finally {
      feed.stop();
    }
    if (options.hasMaintenance) figures.push(...(await measureMaintenance(service, say)));
    if (!options.hasFloors) return figures;
    const bares = await measureBares(service, targets, pace);
    // PostgreSQL has the machine to itself, as the service had.
    await service.stop();
    const request = {
      folder: join(folder, 'floor'),
      source,
      timedFrom: Math.max(from, jobs - FLOOR_TIMED_JOBS),
      targets,
      samples,
      pace,
    };
    return withFloors(figures, joined(await measurePostgres(request, say), bares));
  } finally {
    await service.stop();
  }
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
