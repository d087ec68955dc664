/**
 * Takes in what is new on commits off the default branch. A commit with news is read from ClickHouse as a whole
 * (pull-evidence.ts), and what it shows replaces what is stored of it: so it does not matter in which order its runs arrive,
 * how often that happens, or where it is cut off.
 *
 * Most commits never fail, and cost one look into PostgreSQL.
 */
import type { ClickHouse } from '../clickhouse/client.ts';
import type { Executor } from '../postgres/client.ts';
import {
  type FailedCommit,
  failedAmong,
  type IdentifiedContradiction,
  insertContradictions,
  noteFailedCommits,
  readContradictionsOn,
  removeContradictions,
} from '../postgres/contradictions.ts';
import {
  nameOfRun,
  type PullRun,
  readRunsOn,
  removeRuns,
  type StoredRun,
  writePullRuns,
} from '../postgres/judged-runs.ts';
import { type PullEvidence, readEvidence } from './pull-evidence.ts';
import { identityKey } from './store.ts';
import type { TouchedPullCommit } from './touched.ts';

/** What changed with the news of commits. */
export interface MovedEvidence {
  /** By `identityKey`: the moment of its first contradiction that is new, or no longer there. */
  moved: ReadonlyMap<string, number>;
  /** The named runs that changed, with the moments at which they were known to begin before: null if they are new. */
  runs: readonly (PullRun & { knownStart: number | null })[];
  /** An evaluation that was cut off has taken in what changed since then; Infinity if none did. */
  againSince: number;
}

interface PullStores {
  tx: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
}

const NOTHING_MOVED: MovedEvidence = { moved: new Map(), runs: [], againSince: Number.POSITIVE_INFINITY };

/** Takes in what is new off the default branch, and returns what is to be judged again for it. */
export async function takeInPulls(
  stores: PullStores,
  touched: ReadonlyMap<string, TouchedPullCommit>,
): Promise<MovedEvidence> {
  if (touched.size === 0) return NOTHING_MOVED;
  const { tx, repositoryId } = stores;
  const commits = [...touched.keys()];
  const failed = [...touched].flatMap(([commit, { failedAt: newestAt }]): FailedCommit[] =>
    newestAt === undefined ? [] : [{ commit, newestAt }],
  );
  const mayContradict = new Set(await failedAmong(tx, repositoryId, commits));
  await noteFailedCommits(tx, repositoryId, failed);
  const known = await readContradictionsOn(tx, repositoryId, commits);
  const suspects = new Map(
    [...touched].filter(
      ([commit, { failedAt, retried }]) => failedAt !== undefined || retried.size > 0 || mayContradict.has(commit),
    ),
  );
  for (const { failure, testId } of known) {
    const one = suspects.get(failure.commit) ?? touched.get(failure.commit);
    if (one) suspects.set(failure.commit, { ...one, retried: new Set([...one.retried, testId]) });
  }
  if (suspects.size === 0) return NOTHING_MOVED;
  const tests = new Map([...suspects].map(([commit, { retried }]) => [commit, retried]));
  const { evidence, startedAt } = await readEvidence(stores, tests);
  const again = [...suspects].flatMap(([commit, { isAgain }]) => (isAgain ? (startedAt.get(commit) ?? []) : []));
  return {
    ...(await replace(stores, [...suspects.keys()], { known, found: evidence })),
    againSince: Math.min(...again),
  };
}

/** A run as it was when it was judged. */
export const asPullRun = ({ unexpected, expected, meaning: _, ...run }: StoredRun): PullRun => ({
  ...run,
  troubled: unexpected.union(expected),
});

/** Stores what some commits show instead of what is known of them. */
async function replace(
  { tx, repositoryId }: PullStores,
  commits: readonly string[],
  { known, found }: { known: readonly IdentifiedContradiction[]; found: PullEvidence },
): Promise<Omit<MovedEvidence, 'againSince'>> {
  const [before, after] = [byText(known), byText(found.contradictions)];
  const removed = [...before].flatMap(([text, one]) => (after.has(text) ? [] : [one]));
  const added = [...after].flatMap(([text, one]) => (before.has(text) ? [] : [one]));
  await removeContradictions(tx, repositoryId, removed);
  await insertContradictions(tx, repositoryId, added);
  const moved = new Map<string, number>();
  for (const one of [...removed, ...added]) {
    const key = identityKey(one);
    moved.set(key, Math.min(one.at.finishedAt, moved.get(key) ?? one.at.finishedAt));
  }
  const stored = new Map((await readRunsOn(tx, repositoryId, commits)).map((run) => [nameOfRun(run), run]));
  const runs = found.runs.flatMap((run) => {
    const was = stored.get(nameOfRun(run));
    stored.delete(nameOfRun(run));
    return was && isSameRun(run, asPullRun(was)) ? [] : [{ ...run, knownStart: was?.startedAt ?? null }];
  });
  await writePullRuns(tx, repositoryId, runs);
  await removeRuns(tx, repositoryId, [...stored.values()]);
  return { moved, runs };
}

/** Contradictions by all that they say. */
export const byText = (
  contradictions: readonly IdentifiedContradiction[],
): ReadonlyMap<string, IdentifiedContradiction> => new Map(contradictions.map((one) => [textOf(one), one]));

const textOf = ({ at, failure, run, ...identity }: IdentifiedContradiction): string =>
  JSON.stringify([
    identityKey(identity),
    [at.finishedAt, at.runId, at.runAttempt, String(at.executionId)],
    [failure.executionId, failure.commit, failure.finishedAt],
    run,
  ]);

const isSameRun = (one: PullRun, other: PullRun): boolean =>
  one.startedAt === other.startedAt &&
  one.executions === other.executions &&
  one.troubled.symmetricDifference(other.troubled).size === 0;
