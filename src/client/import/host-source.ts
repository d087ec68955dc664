/** The history that a host has of a repository, as a source: pull requests, then runs, oldest first and a few ahead. */
import { mkdirSync, rmSync } from 'node:fs';
import { DAY_MS } from '../../domain/time.ts';
import type { HostHistory, ImportHost } from './host.ts';
import { HostRefusal } from './host-client.ts';
import { aheadOf } from './in-order.ts';
import type { ImportItem, ImportSource } from './item.ts';
import { testsInLog } from './logs.ts';
import { type PastJob, uploadOf } from './past-job.ts';
import { ctrfOf } from './written-report.ts';
import { reportsInZip } from './zipped-reports.ts';

/** Runs whose artifacts are fetched while those of others are sent. */
const RUNS_AHEAD = 4;
const LOG_BYTES_MAX = 32 * 1024 * 1024;
/** A job whose logs named no test so often is not asked again. */
const LOGS_WITHOUT_TESTS_MAX = 3;

export function hostSource<Run, Gathered>(host: ImportHost<Run, Gathered>, history: HostHistory): ImportSource {
  return {
    name: `${host.name} ${history.path}`,
    expected: undefined,
    async *items(isDone): AsyncGenerator<ImportItem> {
      const reader = host.open(history, isDone);
      mkdirSync(history.folder, { recursive: true });
      for await (const pullRequest of reader.pullRequests()) {
        const key = `pull ${pullRequest.number} ${pullRequest.updated_at}`;
        if (!isDone(key)) yield { kind: 'pull_request', key, pullRequest };
      }
      const left = remaining(reader.runs(), (run) => isDone(reader.keyOf(run)));
      for await (const { key, gathered } of aheadOf(left, RUNS_AHEAD, async (run) => ({
        key: reader.keyOf(run),
        gathered: await reader.gather(run),
      }))) {
        yield* reader.itemsOf(gathered);
        yield { kind: 'done', key };
      }
      rmSync(history.folder, { recursive: true, force: true });
    },
  };
}

/**
 * The days from the first moment to before the last, whole: a list of a day has the same address in every start, so the host is
 * asked for what has changed only. What they have too much is left out by its time ({@link isWithin}).
 */
export function* daysOf({
  since,
  until,
}: Pick<HostHistory, 'since' | 'until'>): Generator<{ from: number; to: number }> {
  for (let from = dayOf(since); from < until; from += DAY_MS) yield { from, to: from + DAY_MS };
}

export const isWithin = ({ since, until }: Pick<HostHistory, 'since' | 'until'>, at: number): boolean =>
  at >= since && at < until;

/** Its first moment. */
export const dayOf = (at: number): number => Math.floor(at / DAY_MS) * DAY_MS;

async function* remaining<Run>(runs: AsyncIterable<Run>, isDone: (run: Run) => boolean): AsyncGenerator<Run> {
  for await (const run of runs) if (!isDone(run)) yield run;
}

export interface LeftOut {
  name: string;
  reason: string;
}

export async function* leftOutItems(key: string, leftOut: readonly LeftOut[]): AsyncGenerator<ImportItem> {
  for (const { name, reason } of leftOut) yield { kind: 'left_out', key: `${key} ${name}`, name, reason };
}

const WITHOUT_ARTIFACT: ReadonlyMap<number, string> = new Map([
  [403, 'the token may not read the artifact'],
  [404, 'the artifact is gone'],
  [410, 'the artifact has expired'],
]);

/** Downloads an artifact, unless the host has deleted it. Returns why it is not on the disk; null if it is. */
export async function fetchArtifact(client: HostHistory['client'], url: string, file: string): Promise<string | null> {
  try {
    await client.download(url, file);
    return null;
  } catch (error) {
    const reason = error instanceof HostRefusal ? WITHOUT_ARTIFACT.get(error.status ?? 0) : undefined;
    if (reason === undefined) throw error;
    return reason;
  }
}

/** Why an artifact of this size is not fetched; null if it is. */
export const tooLarge = (bytes: number, { artifactBytesMax }: HostHistory): string | null =>
  bytes > artifactBytesMax ? `the artifact is larger than ${artifactBytesMax} bytes (--artifact-bytes)` : null;

export interface FetchedArtifact {
  key: string;
  /** Begins the names of its files in messages. */
  name: string;
  /** Begins the names of its reports. */
  prefix: string;
  file: string;
}

/**
 * The reports in an artifact on the disk.
 *
 * @param onFound called for each, whether or not it was sent before
 */
export async function* reportItems(
  { key, name, prefix, file }: FetchedArtifact,
  job: PastJob,
  isDone: (key: string) => boolean,
  onFound: () => void,
): AsyncGenerator<ImportItem> {
  try {
    for await (const found of reportsInZip(file)) {
      if ('leftOut' in found) {
        yield { kind: 'left_out', key: `${key} ${found.path}`, name: `${name}/${found.path}`, reason: found.leftOut };
        continue;
      }
      onFound();
      const { path, format, body } = found.report;
      if (isDone(`${key} ${path}`)) continue;
      yield {
        kind: 'report',
        key: `${key} ${path}`,
        name: `${name}/${path}`,
        format: format.name,
        ...uploadOf(job, `${prefix}${path}`),
        read: () => Promise.resolve(body),
      };
    }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    yield { kind: 'left_out', key, name: `${name}/`, reason: `the artifact cannot be read: ${reason}` };
  }
}

/** Results in logs of jobs without a report. */
export class LogReader {
  readonly #withoutTests = new Map<string, number>();

  constructor(private readonly history: HostHistory) {}

  /** A report of the tests that the log of a job names; undefined if it names none, or if those of the job never do. */
  async itemOf(
    job: PastJob,
    { key, name, path }: { key: string; name: string; path: string },
  ): Promise<ImportItem | undefined> {
    const kind = `${job.pipeline} ${job.leg.job}`;
    const misses = this.#withoutTests.get(kind) ?? 0;
    if (!this.history.readsLogs || misses >= LOGS_WITHOUT_TESTS_MAX) return undefined;
    const tests = testsInLog(await this.#text(path));
    if (tests.length === 0) {
      this.#withoutTests.set(kind, misses + 1);
      return undefined;
    }
    const leg = { ...job.leg, place: { ...job.leg.place, source: 'log' } };
    return {
      kind: 'report',
      key,
      name,
      format: 'ctrf',
      ...uploadOf({ ...job, leg }, 'log'),
      read: () => Promise.resolve(Buffer.from(ctrfOf('log', tests))),
    };
  }

  async #text(path: string): Promise<string> {
    try {
      return (await this.history.client.text(path, '*/*', LOG_BYTES_MAX)).text;
    } catch (error) {
      if (error instanceof HostRefusal && (error.status === 404 || error.status === 410)) return '';
      throw error;
    }
  }
}
