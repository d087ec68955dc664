/** The state of tests, from everything that is retained of them: for a rebuild. */
import { eq } from 'drizzle-orm';
import { z } from 'zod';
import type { ClickHouse } from '../clickhouse/client.ts';
import { defineLongQuery } from '../clickhouse/query.ts';
import { unknownBelief } from '../domain/belief.ts';
import type { KnownRuns } from '../domain/judge-runs.ts';
import { endOfMonth, startOfMonth } from '../domain/retention.ts';
import { type Identity, identityKey, identityOf } from '../domain/test-identity.ts';
import { newestBaseline, readBaselines } from '../postgres/baselines.ts';
import type { Database, Executor } from '../postgres/client.ts';
import { forgetClues, insertClues, noteFailedCommits, readClues, readCluesBetween } from '../postgres/clues.ts';
import { replaceIdentities } from '../postgres/count-identities.ts';
import { forgetFailureGroups, writeFailureGroups } from '../postgres/failure-groups.ts';
import { changeFlakyExecutions, forgetFlakyExecutionsOf } from '../postgres/flaky-executions.ts';
import {
  changesAfter,
  forgetHealthChanges,
  readHealthChanges,
  writeHealthChanges,
} from '../postgres/health-changes.ts';
import { readIdentities } from '../postgres/identities.ts';
import { foldHealths } from '../postgres/job-legs.ts';
import { forgetRuns, insertRuns, readMeanings } from '../postgres/judged-runs.ts';
import { lockPartitionsOf } from '../postgres/partitions.ts';
import { repositories } from '../postgres/schema.ts';
import { settleAllEvidence } from '../postgres/stale.ts';
import { forgetSuspects, readSuspects, writeSuspects } from '../postgres/suspects.ts';
import { namesOfRenamed } from '../postgres/test-names.ts';
import { forgetFirstFailuresOf, noteFirstFailures } from '../postgres/tests.ts';
import type { TestGroup } from './all-tests.ts';
import { findBeginnings, recordsOf } from './beginnings.ts';
import { type DerivedState, deriveState, unseenSuspect } from './derived-state.ts';
import { readAllEvidence } from './evidence.ts';
import { readGroups, readHistory } from './history.ts';
import { judgeAllRuns } from './judge-all-runs.ts';
import { recordOf } from './write-judgements.ts';

const retainedSince = defineLongQuery('maintenance/retained_since', {}, z.object({ since_ms: z.number() }));

/** The start of the oldest retained month; milliseconds since the epoch. */
export async function oldestRetained(clickhouse: ClickHouse): Promise<number> {
  const [row] = await clickhouse.select(retainedSince, {});
  return row?.since_ms ?? 0;
}

/**
 * The start of the oldest month of a repository that is retained: it may keep executions for less time than the installation.
 *
 * @param retainedSince see {@link oldestRetained}
 */
export async function retainedOf(tx: Executor, repositoryId: string, retainedSince: number): Promise<number> {
  const [own] = await tx
    .select({ month: repositories.executionsSince })
    .from(repositories)
    .where(eq(repositories.id, repositoryId));
  return Math.max(retainedSince, own && own.month > 0 ? startOfMonth(own.month) : 0);
}

/**
 * The end of the newest month of a repository that has left: the one that its baselines have moved past, or that nothing is
 * retained of.
 *
 * @param retainedSince see {@link oldestRetained}
 */
export async function endOfLastMonthGone(tx: Executor, repositoryId: string, retainedSince: number): Promise<number> {
  const newestAt = await newestBaseline(tx, repositoryId);
  const own = await retainedOf(tx, repositoryId, retainedSince);
  return Math.max(own, newestAt === null ? 0 : endOfMonth(newestAt));
}

export interface RederiveDeps {
  clickhouse: ClickHouse;
  db: Database;
}

/** Judges all retained runs of a repository again. Every stored block must be evaluated. */
export async function rejudgeRuns({ clickhouse, db }: RederiveDeps, repositoryId: string): Promise<void> {
  const retainedSince = await oldestRetained(clickhouse);
  await db.transaction(async (tx) => {
    await lockPartitionsOf(tx, repositoryId);
    const edge = await endOfLastMonthGone(tx, repositoryId, retainedSince);
    const since = { from: edge, to: Number.MAX_SAFE_INTEGER };
    const { failed, ...evidence } = await readAllEvidence({ clickhouse, repositoryId }, edge);
    await forgetClues(tx, repositoryId, since);
    await noteFailedCommits(tx, repositoryId, failed);
    await insertClues(tx, repositoryId, evidence.clues);
    await forgetRuns(tx, repositoryId, since);
    for await (const runs of judgeAllRuns(clickhouse, tx, { repositoryId, edge, evidence }))
      await insertRuns(tx, repositoryId, runs);
    await settleAllEvidence(tx, repositoryId);
  });
}

export interface RederiveOptions {
  isFlakyDetectionEnabled: boolean;
  /** The meaning of every run of the repository. */
  runs: KnownRuns;
  /** See {@link retainedOf}. First failures from before stay, because their executions have left. */
  retainedSince: number;
}

/**
 * Judges everything retained of some tests, and replaces what is stored. Their runs must be judged before, and every
 * stored block must be evaluated: one that is counted later would count twice.
 */
export async function rederive(
  { clickhouse, db }: RederiveDeps,
  { repositoryId, testIds }: TestGroup,
  { isFlakyDetectionEnabled, runs, retainedSince }: RederiveOptions,
): Promise<void> {
  await db.transaction(async (tx) => {
    await lockPartitionsOf(tx, repositoryId);
    const clues = Map.groupBy(await readClues(tx, repositoryId, testIds), identityKey);
    const baselines = Map.groupBy(await readBaselines(tx, repositoryId, testIds), ({ testId }) => testId);
    const names = (await namesOfRenamed(tx, [repositoryId])).get(repositoryId);
    const history = await readHistory(clickhouse, repositoryId, testIds, names);
    const derived = [...history].map(([testId, found]) =>
      deriveState(testId, found, {
        ...{ isFlakyDetectionEnabled, runs, clues },
        baselines: baselines.get(testId) ?? [],
      }),
    );
    await replaceStates({ tx, clickhouse, repositoryId }, testIds, derived, { isFlakyDetectionEnabled, retainedSince });
  });
}

async function replaceStates(
  { tx, clickhouse, repositoryId }: { tx: Executor; clickhouse: ClickHouse; repositoryId: string },
  testIds: readonly string[],
  derived: readonly DerivedState[],
  { isFlakyDetectionEnabled, retainedSince }: Omit<RederiveOptions, 'runs'>,
): Promise<void> {
  const identities = derived.flatMap((state) => state.identities);
  await replaceIdentities(
    tx,
    repositoryId,
    testIds,
    identities.map(({ counts }) => counts),
  );
  await forgetSuspects(tx, repositoryId, testIds);
  await writeSuspects(
    tx,
    repositoryId,
    identities.flatMap(({ suspect, ...identity }) =>
      suspect ? [recordOf({ ...identity, suspect }, true, { isFlakyDetectionEnabled })] : [],
    ),
  );
  await foldHealths(tx, repositoryId, testIds);
  await forgetFlakyExecutionsOf(tx, repositoryId, testIds);
  await changeFlakyExecutions(
    tx,
    repositoryId,
    derived.flatMap(({ flaky }) =>
      flaky.map(({ testId, executionId, finishedAt }) => ({
        ...{ testId, executionId: String(executionId), finishedAt, isFlaky: true },
      })),
    ),
  );
  const starts = identities.map(({ baseline, ...identity }) => ({ ...identityOf(identity), start: baseline.at }));
  const known = await readHealthChanges(tx, repositoryId, testIds);
  const changes = derived.flatMap((state) => state.changes);
  await forgetHealthChanges(tx, repositoryId, changesAfter(known, starts));
  await writeHealthChanges(
    tx,
    repositoryId,
    recordsOf(changes, known, await findBeginnings(clickhouse, repositoryId, changes)),
  );
  await forgetFailureGroups(tx, repositoryId, testIds);
  await writeFailureGroups(tx, repositoryId, await readGroups(clickhouse, repositoryId, testIds));
  await forgetFirstFailuresOf(tx, repositoryId, testIds, retainedSince);
  await noteFirstFailures(
    tx,
    repositoryId,
    new Map(derived.flatMap(({ test }) => (test.firstFailure ? [[test.testId, test.firstFailure] as const] : []))),
  );
}

/**
 * Writes the suspects that have never run on the default branch: those that commits off it contradict, or did until their
 * month left. After {@link rederive} of all tests.
 */
export async function rederiveUnseen({ db }: RederiveDeps, repositoryId: string): Promise<void> {
  await db.transaction(async (tx) => {
    await lockPartitionsOf(tx, repositoryId);
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
    const clues = Map.groupBy(await readCluesBetween(tx, repositoryId, all), identityKey);
    const testIds = [...new Set([...clues.values()].flatMap((found) => found.map(({ testId }) => testId)))];
    const baselines = new Map((await readBaselines(tx, repositoryId, testIds)).map((row) => [identityKey(row), row]));
    const seen = new Set((await readIdentities(tx, repositoryId, testIds)).map(identityKey));
    for (const one of await readSuspects(tx, repositoryId, testIds)) seen.add(identityKey(one));
    const runs = await readMeanings(tx, repositoryId);
    const options = { runs, isFlakyDetectionEnabled: true };
    const records = [...clues].flatMap(([key, found]) => {
      const [first] = found;
      if (!first || seen.has(key)) return [];
      const identity: Identity = identityOf(first);
      const baseline = baselines.get(key)?.belief ?? unknownBelief();
      const suspect = unseenSuspect(identity, baseline, found, options);
      return [recordOf({ ...identity, suspect }, false, options)];
    });
    await writeSuspects(tx, repositoryId, records);
  });
}
