/** Reads the clues of commits again, and stores them in place of what was known. */
import type { ClickHouse } from '../clickhouse/client.ts';
import { isOfOtherLegs } from '../domain/clues.ts';
import { identityKey } from '../domain/test-identity.ts';
import type { Executor } from '../postgres/client.ts';
import { type IdentifiedClue, insertClues, readCluesOn, removeClues } from '../postgres/clues.ts';
import {
  nameOfRun,
  type PullRun,
  readRunsOn,
  removeRuns,
  type StoredRun,
  writePullRuns,
} from '../postgres/judged-runs.ts';
import type { StaleCommit } from '../postgres/stale.ts';
import { type CommitEvidence, readEvidence } from './evidence.ts';

/** Everything that changed with the evidence of some commits. */
export interface MovedEvidence {
  /** The first moment that is concerned, in milliseconds since the epoch; Infinity if nothing changed. */
  since: number;
  /** By `identityKey`: those with a clue that is new, or no longer there. */
  identities: ReadonlySet<string>;
  /** By name: the runs that changed, as they are in ClickHouse. */
  runs: ReadonlyMap<string, PullRun>;
}

interface Stores {
  tx: Executor;
  clickhouse: ClickHouse;
  repositoryId: string;
}

export async function refreshEvidence(stores: Stores, commits: readonly StaleCommit[]): Promise<MovedEvidence> {
  const { tx, repositoryId } = stores;
  const names = commits.map(({ commit }) => commit);
  const known = await readCluesOn(tx, repositoryId, names);
  const tests = new Map(commits.map(({ commit, retriedTests }) => [commit, new Set(retriedTests)]));
  for (const { failure, testId } of known) tests.get(failure.commit)?.add(testId);
  return replace(stores, names, known, await readEvidence(stores, tests));
}

async function replace(
  { tx, repositoryId }: Stores,
  commits: readonly string[],
  known: readonly IdentifiedClue[],
  found: CommitEvidence,
): Promise<MovedEvidence> {
  const [before, after] = [byText(known), byText(found.clues)];
  const removed = [...before].flatMap(([text, one]) => (after.has(text) ? [] : [one]));
  const added = [...after].flatMap(([text, one]) => (before.has(text) ? [] : [one]));
  await removeClues(tx, repositoryId, removed);
  await insertClues(tx, repositoryId, added);
  const stored = new Map((await readRunsOn(tx, repositoryId, commits)).map((run) => [nameOfRun(run), run]));
  const starts = [...removed, ...added].map(({ at }) => at.finishedAt);
  const runs = new Map<string, PullRun>();
  for (const run of found.runs) {
    const name = nameOfRun(run);
    const was = stored.get(name);
    stored.delete(name);
    if (was && isSameRun(run, asPullRun(was))) continue;
    runs.set(name, run);
    starts.push(Math.min(run.startedAt, was?.startedAt ?? run.startedAt));
  }
  await writePullRuns(tx, repositoryId, [...runs.values()]);
  await removeRuns(tx, repositoryId, [...stored.values()]);
  return {
    since: starts.reduce((first, at) => Math.min(first, at), Number.POSITIVE_INFINITY),
    identities: new Set([...removed, ...added].map(identityKey)),
    runs,
  };
}

/** A run as it was when it was judged. */
export const asPullRun = ({ unexpected, expected, meaning: _, ...run }: StoredRun): PullRun => ({
  ...run,
  troubled: unexpected.union(expected),
});

/** Clues by all that they say. */
export const byText = (clues: readonly IdentifiedClue[]): ReadonlyMap<string, IdentifiedClue> =>
  new Map(clues.map((one) => [textOf(one), one]));

function textOf(clue: IdentifiedClue): string {
  const { at, failure } = clue;
  return JSON.stringify([
    identityKey(clue),
    [at.finishedAt, at.runId, at.runAttempt, String(at.executionId)],
    [failure.executionId, failure.commit, failure.finishedAt],
    isOfOtherLegs(clue) ? [clue.before, clue.after] : clue.run,
  ]);
}

const isSameRun = (one: PullRun, other: PullRun): boolean =>
  one.startedAt === other.startedAt &&
  one.executions === other.executions &&
  one.troubled.symmetricDifference(other.troubled).size === 0;
