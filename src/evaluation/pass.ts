/**
 * A pass of the evaluation: counts and judges what waits in one partition, in one transaction. Nothing happens after its
 * commit, so there is no state between evaluated and not.
 *
 *     take a partition ─► read its parts ─► count ─► judge ─► write, note what is stale ─► delete the parts ─► commit
 */

import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'drizzle-orm';
import type { AutoQuarantineMode } from '../domain/quarantine-rules.ts';
import { NOTHING_REPORTED } from '../domain/report-source.ts';
import type { CountedPasses, Suspect } from '../domain/suspect.ts';
import { identityKey } from '../domain/test-identity.ts';
import { StoreUnavailable } from '../errors.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, type Executor, onPostgres } from '../postgres/client.ts';
import { addIdentities } from '../postgres/count-identities.ts';
import { addFailureGroups } from '../postgres/failure-groups.ts';
import { readIdentities } from '../postgres/identities.ts';
import { foldHealths } from '../postgres/job-legs.ts';
import { repositoriesWithOwners, testsInOtherFiles } from '../postgres/owners.ts';
import {
  deleteParts,
  lockPartitionsOf,
  notePass,
  type Part,
  type PartLimits,
  partitionOf,
  postpone,
  readWaitingParts,
  resume,
  type Turn,
  takePartition,
} from '../postgres/partitions.ts';
import { notePullComments } from '../postgres/pull-comments.ts';
import { openPullsAt } from '../postgres/pull-requests.ts';
import { repositoriesWithQuarantines } from '../postgres/quarantine-records.ts';
import { noteStrays } from '../postgres/renames.ts';
import { noteRuns } from '../postgres/repository-totals.ts';
import { repositories } from '../postgres/schema.ts';
import { noteStale, readStale, type StaleNote } from '../postgres/stale.ts';
import { suspectsAmong, unhealthyAmong } from '../postgres/suspects.ts';
import { namesOfRenamed } from '../postgres/test-names.ts';
import { noteFirstFailures } from '../postgres/tests.ts';
import { Contents } from './contents.ts';
import { judgeContents } from './judge-contents.ts';
import { noteCommits } from './note-commits.ts';
import { type Written, writeJudgements } from './write-judgements.ts';

/**
 * One pass takes no further part once it has so much, because it is in memory, some 100 MB, and other partitions wait. An
 * execution that passed takes about 200 bytes, a failure up to 320 KiB.
 */
const PASS_LIMITS: PartLimits = { executionsMax: 200_000, bytesMax: 16 * 1024 * 1024 };
/** Live results of the partition wait for no longer than they would for each other. */
const IMPORT_LIMITS: PartLimits = { executionsMax: 20_000, bytesMax: 4 * 1024 * 1024 };

export interface PassDeps {
  db: Database;
  log: Logger;
  limits?: PartLimits;
  /** Only what is live, or only what is imported; both without it. */
  isOfImports?: boolean;
  /** Pull requests on which something has finished since then are noted for their comments; without it none is. */
  commentedSince?: (() => number) | undefined;
}

/** The waiting parts of a repository. */
interface Waiting {
  repositoryId: string;
  /** Imported results quarantine nothing. */
  isImported: boolean;
  contents: Contents;
  /** The first of its blocks. */
  blockId: number;
}

/** @returns how many executions were evaluated; undefined if nothing waits that no one else is evaluating */
export async function evaluatePartition(
  { db, log, limits, commentedSince, isOfImports }: PassDeps,
  paceMs: number,
): Promise<number | undefined> {
  let taken: readonly Part[] | undefined;
  try {
    return await onPostgres(() =>
      db.transaction(async (tx) => {
        const turn = await takePartition(tx, paceMs, isOfImports === undefined ? undefined : [isOfImports]);
        if (turn === undefined) return undefined;
        const parts = await readWaitingParts(tx, turn, limits ?? (turn.isImported ? IMPORT_LIMITS : PASS_LIMITS));
        taken = parts;
        await evaluateParts(tx, turn, parts, commentedSince);
        return executionsOf(parts);
      }),
    );
  } catch (error) {
    if (error instanceof StoreUnavailable || !taken) throw error;
    return evaluateApart({ db, log, commentedSince }, new Set(taken.map(({ repositoryId }) => repositoryId)));
  }
}

/** Evaluates everything that waits of a repository. */
export async function evaluateRepository(
  db: Database,
  repositoryId: string,
  commentedSince?: PassDeps['commentedSince'],
): Promise<number> {
  const partition = partitionOf(repositoryId);
  return onPostgres(() =>
    db.transaction(async (tx) => {
      await lockPartitionsOf(tx, repositoryId);
      let executions = 0;
      for (const isImported of [false, true]) {
        const turn = { partition, isImported };
        const parts = await readWaitingParts(tx, turn, PASS_LIMITS, repositoryId);
        if (parts.length > 0) await evaluateParts(tx, turn, parts, commentedSince);
        executions += executionsOf(parts);
      }
      return executions;
    }),
  );
}

/** One repository cannot be evaluated: the others of its partition are evaluated alone, and it is tried again later. */
async function evaluateApart(
  { db, log, commentedSince }: PassDeps,
  repositoryIds: ReadonlySet<string>,
): Promise<number> {
  let executions = 0;
  for (const repositoryId of repositoryIds)
    try {
      executions += await evaluateRepository(db, repositoryId, commentedSince);
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      log.error({ err: error, repository: repositoryId }, 'a repository cannot be evaluated; will retry');
      await onPostgres(() => postpone(db, repositoryId));
    }
  return executions;
}

const executionsOf = (parts: readonly Part[]): number => parts.reduce((sum, { executions }) => sum + executions, 0);

async function evaluateParts(
  tx: Executor,
  turn: Turn,
  parts: readonly Part[],
  commentedSince: PassDeps['commentedSince'],
): Promise<void> {
  const renamed = await namesOfRenamed(tx, [...new Set(parts.map(({ repositoryId }) => repositoryId))]);
  const waiting = readContents(parts, renamed);
  const known = await countAll(tx, waiting);
  for (const one of waiting) await judge(tx, one, known);
  for (const { repositoryId, contents } of waiting)
    if (renamed.has(repositoryId)) await noteStrays(tx, repositoryId, [...contents.testIds]);
  for (const [repositoryId, testIds] of known.folded) await foldHealths(tx, repositoryId, [...testIds]);
  if (commentedSince && !turn.isImported) await notePulls(tx, waiting, commentedSince());
  await noteRuns(
    tx,
    new Map(
      waiting.map(({ repositoryId, contents: { newestAt, reportedAt } }) => [
        repositoryId,
        // CI has not sent what is imported.
        { newestAt, reportedAt: turn.isImported ? NOTHING_REPORTED : reportedAt },
      ]),
    ),
  );
  await deleteParts(tx, turn.partition, parts);
  await resume(
    tx,
    waiting.map(({ repositoryId }) => repositoryId),
  );
  await notePass(tx, turn);
}

/** Late results, such as those of an import, are nothing to comment on. */
async function notePulls(tx: Executor, waiting: readonly Waiting[], since: number): Promise<void> {
  for (const { repositoryId, contents } of waiting) {
    const newest = new Map(contents.pullsRan);
    for (const { number, commit } of await openPullsAt(tx, repositoryId, [...contents.commitsRan.keys()])) {
      const ranAt = contents.commitsRan.get(commit) ?? 0;
      if (ranAt > (newest.get(number)?.ranAt ?? 0)) newest.set(number, { number, commit, ranAt });
    }
    const pulls = [...newest.values()].filter(({ ranAt }) => ranAt >= since);
    await notePullComments(tx, repositoryId, pulls);
  }
}

function readContents(parts: readonly Part[], renamed: ReadonlyMap<string, ReadonlyMap<string, string>>): Waiting[] {
  const waiting = new Map<string, Waiting>();
  for (const { repositoryId, blockId, isImported, body } of parts) {
    const one = waiting.get(repositoryId) ?? {
      repositoryId,
      isImported,
      contents: new Contents(renamed.get(repositoryId)),
      blockId,
    };
    waiting.set(repositoryId, one);
    one.contents.add(zstdDecompressSync(body).toString('utf8'));
  }
  return [...waiting.values()];
}

/** All that a pass reads about its repositories before it judges them. */
interface Known {
  /** By repository id, then by `identityKey`. */
  suspects: ReadonlyMap<string, ReadonlyMap<string, Suspect>>;
  passes: ReadonlyMap<string, ReadonlyMap<string, CountedPasses>>;
  staleTests: ReadonlyMap<string, ReadonlySet<string>>;
  /** By repository id: tests with several legs in a CI job. */
  folded: ReadonlyMap<string, ReadonlySet<string>>;
  settings: ReadonlyMap<string, { isEnabled: boolean; mode: AutoQuarantineMode }>;
  quarantined: ReadonlySet<string>;
  /** Repositories that say who owns tests. */
  owned: ReadonlySet<string>;
}

/** Counts all identities of all repositories together, and reads before what a judgement needs. */
async function countAll(tx: Executor, waiting: readonly Waiting[]): Promise<Known> {
  const repositoryIds = waiting.map(({ repositoryId }) => repositoryId);
  const identities = waiting.flatMap(({ repositoryId, contents }) =>
    [...contents.identities.values()].map((one) => ({ ...one.counts(), repositoryId })),
  );
  const suspects = new Map<string, Map<string, Suspect>>(repositoryIds.map((id) => [id, new Map()]));
  for (const one of await suspectsAmong(tx, identities))
    suspects.get(one.repositoryId)?.set(identityKey(one), one.suspect);
  const passes = new Map<string, ReadonlyMap<string, CountedPasses>>();
  for (const { repositoryId, contents } of waiting)
    passes.set(repositoryId, await passesOf(tx, repositoryId, contents, suspects.get(repositoryId)));
  const folded = await addIdentities(tx, identities);
  for (const { repositoryId, contents } of waiting) {
    await noteFirstFailures(tx, repositoryId, contents.firstFailures);
    await addFailureGroups(tx, repositoryId, contents.groups);
  }
  const stale = await readStale(tx, repositoryIds);
  const settings = await tx
    .select({ id: repositories.id, isEnabled: repositories.flakyDetectionEnabled, mode: repositories.autoQuarantine })
    .from(repositories)
    .where(sql`${repositories.id} = any(${sql.param(repositoryIds)}::uuid[])`);
  return {
    suspects,
    passes,
    folded,
    staleTests: new Map([...stale].map(([id, kinds]) => [id, kinds.get('judgements')?.testIds ?? new Set<string>()])),
    settings: new Map(settings.map(({ id, ...settingsOfOne }) => [id, settingsOfOne])),
    quarantined: new Set(await repositoriesWithQuarantines(tx, repositoryIds)),
    owned: new Set(await repositoriesWithOwners(tx, repositoryIds)),
  };
}

/** Reads the passes that were counted, of identities that go wrong for the first time. */
async function passesOf(
  tx: Executor,
  repositoryId: string,
  { identities }: Contents,
  suspects: ReadonlyMap<string, Suspect> = new Map(),
): Promise<ReadonlyMap<string, CountedPasses>> {
  const failed = new Map([...identities].filter(([key, { hasTrouble }]) => hasTrouble && !suspects.has(key)));
  const known = await readIdentities(tx, repositoryId, [...new Set([...failed.values()].map(({ testId }) => testId))]);
  return new Map(
    known.flatMap((one) => (failed.has(identityKey(one)) ? [[identityKey(one), one.passes] as const] : [])),
  );
}

async function judge(tx: Executor, waiting: Waiting, known: Known): Promise<void> {
  const { repositoryId, isImported, contents, blockId } = waiting;
  const notes: StaleNote[] = [];
  const note = (kind: StaleNote['kind'], more: Partial<StaleNote> = {}): void => {
    notes.push({ repositoryId, kind, blockId, isImported, ...more });
  };
  const judged = await judgeContents(tx, repositoryId, contents, {
    suspects: known.suspects.get(repositoryId) ?? new Map(),
    passes: known.passes.get(repositoryId) ?? new Map(),
    staleTests: known.staleTests.get(repositoryId) ?? new Set(),
  });
  let written: Written = NOTHING_WRITTEN;
  if (judged) {
    const isFlakyDetectionEnabled = known.settings.get(repositoryId)?.isEnabled ?? true;
    written = await writeJudgements(tx, repositoryId, judged, { isFlakyDetectionEnabled, renewed: judged.renewed });
    if (judged.stale) note('judgements', judged.stale);
  }
  const commits = await noteCommits(tx, repositoryId, contents);
  if (commits.hasEvidence) note('evidence');
  if (commits.hasRecords) note('records');
  if (written.begun.size > 0) note('beginnings', { testIds: written.begun });
  if (!isImported) {
    const unhealthy = await mayBeQuarantined(tx, repositoryId, contents, known, written);
    if (unhealthy.size > 0 || known.quarantined.has(repositoryId)) note('quarantines', { testIds: unhealthy });
  }
  if (known.owned.has(repositoryId)) {
    const testIds = await testsInOtherFiles(tx, repositoryId, contents.files());
    if (testIds.length > 0) note('owners', { testIds });
  }
  if (contents.identities.size > 0) {
    note('totals');
    note('durations');
    note('renames');
  }
  if (contents.groups.size > 0) note('causes');
  await noteStale(tx, notes);
}

/** Tests to look at: a test that passed in one CI job may be flaky or broken in another. */
async function mayBeQuarantined(
  tx: Executor,
  repositoryId: string,
  { identities }: Contents,
  { settings }: Known,
  { unhealthy }: Written,
): Promise<ReadonlySet<string>> {
  if ((settings.get(repositoryId)?.mode ?? 'off') === 'off') return unhealthy;
  const testIds = new Set([...identities.values()].map(({ testId }) => testId));
  return unhealthy.union(new Set(await unhealthyAmong(tx, repositoryId, [...testIds])));
}

const NOTHING_WRITTEN: Written = { begun: new Set(), unhealthy: new Set() };
