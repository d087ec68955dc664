/** Compares what is stored of how long tests take with what the executions give. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { deriveDurations } from '../evaluation/derive-durations.ts';
import type { Pending } from '../evaluation/pending.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { readDurations, readDurationTotals, type TestDurations } from '../postgres/durations.ts';
import { everyRepositoryId } from '../postgres/repositories.ts';

interface VerifyDurationsDeps {
  clickhouse: ClickHouse;
  db: Database;
}

/** A sentence for each row that differs, of all repositories or of one. What is stale or waits is not compared. */
export async function durationDifferences(
  deps: VerifyDurationsDeps,
  { stale, repositories: waiting }: Pick<Pending, 'stale' | 'repositories'>,
  repositoryId?: string,
): Promise<string[]> {
  const ids = repositoryId === undefined ? await everyRepositoryId(deps.db) : [repositoryId];
  const differences: string[] = [];
  for (const id of ids)
    if (!stale.get(id)?.has('durations') && !waiting.has(id))
      for (const one of await differencesIn(deps, id)) differences.push(`repository ${id}: ${one}`);
  return differences;
}

async function differencesIn({ clickhouse, db }: VerifyDurationsDeps, repositoryId: string): Promise<string[]> {
  const found: string[] = [];
  const compare = (is: ReadonlySet<string>, kept: ReadonlySet<string>): void => {
    for (const one of is.difference(kept)) found.push(`${one} is not stored`);
    for (const one of kept.difference(is)) found.push(`${one} is stored, but does not follow`);
  };
  const derived = deriveDurations({ tx: db, clickhouse, repositoryId });
  let step = await onPostgres(() => derived.next());
  for (; !step.done; step = await onPostgres(() => derived.next())) {
    const { testIds, durations } = step.value;
    const stored = await onPostgres(() => readDurations(db, repositoryId, testIds));
    compare(new Set(durations.map(sentenceOf)), new Set(stored.map(sentenceOf)));
  }
  const totals = await onPostgres(() => readDurationTotals(db, repositoryId));
  compare(totalsSentence(step.value), totalsSentence(totals));
  return found;
}

const sentenceOf = ({ testId, pipelineName, jobName, axes, growth, ...one }: TestDurations): string =>
  `of test ${testId} in leg ${JSON.stringify([pipelineName, jobName, axes])}${one.isFolded ? ', one of several' : ''}: median ${one.medianUs} µs, p95 ${one.p95Us} µs and ${one.totalUs} µs in ${one.executions} executions${
    growth
      ? `, grown on day ${growth.day} from ${growth.beforeUs} to ${growth.afterUs} µs between commits ${growth.lastCommitBefore} and ${growth.firstCommitAfter}`
      : ''
  }`;

const totalsSentence = (totals: Awaited<ReturnType<typeof readDurationTotals>>): Set<string> =>
  new Set(
    totals
      ? [
          `days ${totals.startDay} to ${totals.endDay}: ${totals.tests} tests, ${totals.grown} of them grown, ${totals.totalUs} µs`,
        ]
      : [],
  );
