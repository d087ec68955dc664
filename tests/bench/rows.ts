/**
 * What more rows change: two installations side by side, of which one has many times the executions of the other, and the same
 * reads of both in turns, so that whatever else the machine does slows both down.
 *
 * The smaller is filled as the benchmark is. The larger begins as a copy of it, and has further repositories with as many
 * executions each (copies.ts). Nothing is asked about them, so PostgreSQL knows the repositories of the smaller one only.
 */
import { existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../support/at-end.ts';
import { type RealClickHouse, startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { multiply, rowsOf, SERVER_CONFIG, type Stored, storedAt, untilMerged } from './copies.ts';
import type { DataOptions } from './data.ts';
import { filledWith, isInUse, noteFilled } from './folder.ts';
import { allowReruns, JUDGED, judgedPathsOf } from './judged-reads.ts';
import { fillDirectly } from './maintenance.ts';
import { memoryOfKinds } from './memory.ts';
import { quantile } from './quantile.ts';
import { measureReads, pathsOf, READS, type Targets, targetsOf } from './reads.ts';
import { type Figure, figure, tableByName } from './report.ts';
import { BenchService } from './service.ts';

/** Each read is asked so many times of both. */
const TURNS = 4;
const PACE = { warmSeconds: 0.5, seconds: 2.5 };
const TIMES_MAX = 1.5;
const MIB = 2 ** 20;
/** Their folders. */
const SIDES = ['small', 'large'] as const;

type RowsRead = (typeof READS)[number] | Exclude<(typeof JUDGED)[number], 'log'>;
/** All that are of executions. */
const ROWS_READS: readonly RowsRead[] = [...READS, ...JUDGED.filter((read) => read !== 'log')];
const isOfTest = (read: RowsRead): read is (typeof READS)[number] => READS.some((one) => one === read);

/** The data folder of a service, and the folder of its ClickHouse server. */
const serverFolder = (folder: string): string => join(folder, 'server');

/** The server has the folder that the embedded engine has filled. */
async function startServer(folder: string): Promise<RealClickHouse> {
  const path = serverFolder(folder);
  if (!existsSync(path)) {
    mkdirSync(path);
    renameSync(join(folder, 'clickhouse'), join(path, 'data'));
  }
  const server = await startRealClickHouse([], { path, config: SERVER_CONFIG });
  atEnd(() => server.stop());
  return server;
}

/** Fills the smaller and the larger folder, as far as they are not filled yet. */
export async function fillRows(
  folder: string,
  source: DataOptions,
  rows: number,
  say: (what: string) => void,
): Promise<void> {
  const [small, large] = [join(folder, SIDES[0]), join(folder, SIDES[1])];
  if (filledWith(small) === undefined) {
    mkdirSync(small, { recursive: true });
    const service = new BenchService(small);
    await service.start();
    await fillDirectly(service, source, Math.ceil(source.executions / source.chunk), say);
    await service.untilEvaluated();
    await service.stop();
    noteFilled(small, source);
  }
  const server = await startServer(small);
  await untilMerged(server);
  const [repositories, few] = [await repositoriesAt(server), await rowsOf(server, 'executions')];
  await server.stop();
  if (!isInUse(large)) copyFolder(small, large);
  const larger = await startServer(large);
  const times = Math.floor(rows / few);
  await multiply(larger, repositories, times, say);
  if ((await rowsOf(larger, 'executions')) !== times * few)
    throw new Error(`there are not ${times} times the executions`);
  say('merges');
  await untilMerged(larger);
  await larger.stop();
}

/** With its owner: PostgreSQL runs as another user. */
function copyFolder(from: string, to: string): void {
  const { exitCode, stderr } = Bun.spawnSync(['cp', '-a', from, to]);
  if (exitCode !== 0) throw new Error(`${from} could not be copied: ${stderr}`);
}

const repositoriesAt = async (server: RealClickHouse): Promise<string[]> =>
  (await server.ask('SELECT DISTINCT repository_id FROM ci.runs')).split('\n').filter(Boolean);

interface Side {
  server: RealClickHouse;
  service: BenchService;
  stored: Stored;
  targets: Targets;
}

/** Both services run, each at its own server. */
async function openSide(folder: string, source: DataOptions): Promise<Side> {
  const server = await startServer(folder);
  const service = new BenchService(folder, { CLICKHOUSE_URL: server.url() });
  await service.start();
  await service.untilNothingIsStale();
  await allowReruns(service);
  const targets = await targetsOf(service, source.seed, source.now);
  return { server, service, stored: await storedAt(server), targets };
}

/** Other addresses in each turn: what was just answered may be in memory. */
const turned = (paths: readonly string[], turn: number): string[] => {
  const from = Math.floor((paths.length * turn) / TURNS);
  return [...paths.slice(from), ...paths.slice(0, from)];
};

/** The reads of both folders that {@link fillRows} has filled, in turns. */
export async function compareRows(folder: string, say: (what: string) => void): Promise<Figure[]> {
  const source = filledWith(join(folder, SIDES[0]));
  if (!source) throw new Error('the folder is not filled');
  const sides: Side[] = [];
  for (const name of SIDES) sides.push(await openSide(join(folder, name), source));
  const figures = sides.flatMap(({ stored }, i) => [
    figure(`rows.${SIDES[i]}`, stored.rows, ''),
    figure(`parts.${SIDES[i]}`, stored.parts, ''),
    figure(`disk_per_million.${SIDES[i]}`, stored.bytes / MIB / (stored.rows / 1e6), 'MiB'),
  ]);
  for (const read of ROWS_READS) {
    say(read);
    const [few = Number.NaN, many = Number.NaN] = await mediansOf(read, sides);
    figures.push(
      figure(`${read}.${SIDES[0]}`, few, 'ms'),
      figure(`${read}.${SIDES[1]}`, many, 'ms'),
      figure(`${read}.times`, many / few, '', { atMost: TIMES_MAX }),
    );
  }
  const servers = Object.fromEntries(SIDES.map((name) => [name, new RegExp(join(folder, name, 'server'))]));
  const memory = await memoryOfKinds(process.pid, servers);
  figures.push(...SIDES.map((name) => figure(`server_memory.${name}`, (memory[name] ?? 0) / MIB, 'MiB')));
  for (const { service, server } of sides) {
    await service.stop();
    await server.stop();
  }
  return figures;
}

/** Milliseconds of each side: the median of the medians of all turns. */
async function mediansOf(read: RowsRead, sides: readonly Side[]): Promise<number[]> {
  const medians: number[][] = sides.map(() => []);
  for (let turn = 0; turn < TURNS; turn++)
    for (const [i, { service, targets }] of sides.entries()) {
      const pathsFor = () => turned(isOfTest(read) ? pathsOf(read, targets) : judgedPathsOf(read, targets), turn);
      const measured = await measureReads(service, [read], pathsFor, { callers: 1, ...PACE });
      medians[i]?.push(measured.get(read)?.median ?? Number.NaN);
    }
  return medians.map((each) => quantile(each, 0.5));
}

/** Each read with its medians; first what is stored. */
export function rowsTableOf(figures: readonly Figure[]): string {
  const sizeOf = (side: string): string =>
    (figures.find(({ name }) => name === `rows.${side}`)?.value ?? 0).toLocaleString('en');
  const [small, large] = SIDES.map((side) => `${sizeOf(side)} executions`);
  const others = figures.filter(({ name }) => !name.startsWith('rows.'));
  return tableByName(others, 'median', { small: small ?? '', large: large ?? '', times: 'times' });
}
