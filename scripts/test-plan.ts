/**
 * In which order and company the files of tests run. Files of a batch share a process and its stores; batches run beside each
 * other, the longest first, so that none is left over at the end.
 */

/** Files that measure how others are held up, or fill the machine: each runs alone, once everything else is done. */
export const ALONE: ReadonlySet<string> = new Set([
  'tests/nightly/backlog.test.ts',
  'tests/nightly/bench.test.ts',
  'tests/nightly/container-memory.test.ts',
  'tests/nightly/hostile-searches.test.ts',
  'tests/nightly/idle-connections.test.ts',
  'tests/nightly/overload.test.ts',
]);

/**
 * Files that also run over HTTP on real ClickHouse servers (`npm run test:real`): on one, every statement, the reads of requests,
 * and what ingestion and maintenance promise; on two shards, what changes stored rows. The others of these folders pass there
 * as well, but take minutes and ask ClickHouse nothing else.
 */
export const ON_SERVERS: Readonly<Record<string, readonly string[]>> = {
  real: [
    'tests/stores/{cluster,columns,counted-search,derived,event-log,inserts,literals,long-statements,months}.test.ts',
    'tests/stores/{parameters,pipeline,queries,real-server,repository-rows,shards}.test.ts',
    'tests/ingest/{conflicts,delete-repository,event-log,exactly-once,forget-person}.test.ts',
    'tests/ingest/{rebuild,reconcile,renames,retention,uploads}.test.ts',
    'tests/http/{axis-filters,causes,commit-failures,day-values,details-stats,event-counts,events,explanation}.test.ts',
    'tests/http/{failures-executions,history,legs,one-definition,plans,plan-work,pulls,repository-deletion}.test.ts',
    'tests/http/{repository-stats,runs,search,search-patterns,search-totals,segments}.test.ts',
  ],
  shards: ['tests/ingest/{delete-repository,event-log,renames}.test.ts'],
};

/** To open the stores takes some seconds, so a batch is much longer than that. */
const BATCH_SECONDS = 100;
/** For a file that has not been timed. */
const UNTIMED_SECONDS = 5;

export interface TestPlan {
  /** Batches that may run beside each other, in the order in which they begin. */
  batches: string[][];
  /** Files that run one after the other when all batches have ended. */
  alone: string[];
}

/** @param seconds by file, as they were recorded */
export function planTests(files: readonly string[], seconds: Readonly<Record<string, number>>): TestPlan {
  const secondsOf = (file: string): number => seconds[file] ?? UNTIMED_SECONDS;
  const shared = files
    .filter((file) => !ALONE.has(file))
    .toSorted((one, other) => secondsOf(other) - secondsOf(one) || (one < other ? -1 : 1));
  const total = shared.reduce((sum, file) => sum + secondsOf(file), 0);
  const batches = Array.from({ length: Math.max(1, Math.ceil(total / BATCH_SECONDS)) }, () => ({
    files: [] as string[],
    seconds: 0,
  }));
  for (const file of shared) {
    const shortest = batches.reduce((least, one) => (one.seconds < least.seconds ? one : least));
    shortest.files.push(file);
    shortest.seconds += secondsOf(file);
  }
  batches.sort((one, other) => other.seconds - one.seconds);
  return {
    batches: batches.map((batch) => batch.files).filter(({ length }) => length > 0),
    alone: files.filter((file) => ALONE.has(file)).toSorted(),
  };
}

/**
 * Runs batches beside each other, so many at once.
 *
 * @param run returns the exit code of a batch
 * @returns the worst exit code
 */
export async function runBatches<Batch>(
  batches: readonly Batch[],
  atOnce: number,
  run: (batch: Batch) => Promise<number>,
): Promise<number> {
  const waiting = batches.values();
  let worst = 0;
  const work = async (): Promise<void> => {
    for (const batch of waiting) {
      // Not within the call of `max`: that would compare with what was worst before the batch ran.
      const status = await run(batch);
      worst = Math.max(worst, status);
    }
  };
  await Promise.all(Array.from({ length: atOnce }, work));
  return worst;
}

/** Some lines of what `bun test` reports, each with the file whose test it is about. */
function* linesIn(report: string): Generator<{ file: string; line: string }> {
  let file: string | undefined;
  for (const line of report.split('\n')) {
    file = /^(?:::group::)?(tests\/\S+\.test\.ts):$/.exec(line)?.[1] ?? file;
    // Failures are repeated at the end.
    if (/^\d+ tests? failed:$/.test(line)) return;
    if (file !== undefined) yield { file, line };
  }
}

/** How many tests of each file passed, by the report of `bun test`. */
export function passedIn(report: string): Record<string, number> {
  const passed: Record<string, number> = {};
  for (const { file, line } of linesIn(report)) if (line.startsWith('(pass) ')) passed[file] = (passed[file] ?? 0) + 1;
  return passed;
}

/** How long the tests of each file took, by the report of `bun test`. */
export function secondsIn(report: string): Record<string, number> {
  const seconds: Record<string, number> = {};
  for (const { file, line } of linesIn(report)) {
    const took = /^\((?:pass|fail)\) .* \[([\d.]+)ms\]$/.exec(line)?.[1];
    if (took !== undefined) seconds[file] = (seconds[file] ?? 0) + Number(took) / 1_000;
  }
  return Object.fromEntries(Object.entries(seconds).map(([name, sum]) => [name, Math.round(sum * 10) / 10]));
}
