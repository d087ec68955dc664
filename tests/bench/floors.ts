/** The floors of one run: PostgreSQL alone with the same data, and a bare route with the same bytes. */
import { measureBare } from './bare.ts';
import type { DataOptions } from './data.ts';
import { Floor } from './floor.ts';
import { measureFloorReads } from './floor-reads.ts';
import type { Latency } from './quantile.ts';
import { CONNECTIONS, type Pace, PER_TEST, pathsOf, READS, type Targets } from './reads.ts';
import type { Floors } from './report.ts';
import { compareAnswers, type Sample } from './same-answers.ts';
import type { BenchService } from './service.ts';

const MIB = 2 ** 20;

/** By the name of a figure of the service. */
type Found = Map<string, { postgres?: number; bare?: number }>;

export interface FloorsRequest {
  folder: string;
  source: DataOptions;
  /** The job from which on loading is timed. */
  timedFrom: number;
  targets: Targets;
  samples: readonly Sample[];
  pace: Pace;
}

export async function measureBares(service: BenchService, targets: Targets, pace: Pace): Promise<Floors> {
  const found: Found = new Map();
  for (const read of PER_TEST) {
    const { perSecond } = await measureBare(service, pathsOf(read, targets)[0] ?? '/', pace);
    found.set(`${read}.64_connections`, { bare: perSecond });
  }
  return found;
}

export async function measurePostgres(request: FloorsRequest, say: (what: string) => void): Promise<Floors> {
  const { folder, source, timedFrom, targets, samples, pace } = request;
  const ids = new Map(targets.tests.map(({ repository, repositoryId }) => [repository, repositoryId]));
  const floor = await Floor.open(folder, ids);
  const found: Found = new Map();
  try {
    say('loads the same executions into PostgreSQL alone');
    found.set('ingest.evaluated', { postgres: await floor.load(source, timedFrom) });
    const compared = await compareAnswers(floor, samples, targets);
    say(`${compared} answers are equal`);
    found.set('disk.all_per_million', { postgres: (floor.diskBytes() / source.executions) * (1_000_000 / MIB) });
    const { url } = floor.server;
    for (const [read, { perSecond, median, p99 }] of await measureFloorReads(
      url,
      PER_TEST,
      targets,
      CONNECTIONS,
      pace,
    )) {
      found.set(`${read}.64_connections`, { postgres: perSecond });
      found.set(`${read}.64_connections_median`, { postgres: median });
      found.set(`${read}.64_connections_p99`, { postgres: p99 });
    }
    for (const [read, latency] of await measureFloorReads(url, READS, targets, 1, pace))
      setOneClient(found, read, latency);
    return found;
  } finally {
    await floor.close();
  }
}

function setOneClient(found: Found, read: string, { median, p99 }: Latency): void {
  found.set(`${read}.median`, { postgres: median });
  found.set(`${read}.p99`, { postgres: p99 });
}

/** Both together. */
export function joined(one: Floors, other: Floors): Floors {
  const all: Found = new Map(one);
  for (const [name, floors] of other) all.set(name, { ...all.get(name), ...floors });
  return all;
}
