/**
 * Compares everything derived with the executions and reports each difference: the one oracle, for tests and operators.
 * Only reads. What is not stored or evaluated yet is reported as pending.
 */
import { max } from 'drizzle-orm';
import { z } from 'zod';
import { defineLongQuery } from '../clickhouse/query.ts';
import { scope, scopeOf } from '../clickhouse/scope.ts';
import { firstDayOf } from '../domain/repository-stats.ts';
import type { VerifyReportDocument } from '../domain/verify-report.ts';
import { type PendingTests, readPending } from '../evaluation/pending.ts';
import { verifyJudgements } from '../evaluation/verify.ts';
import type { Logger } from '../observability/log.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import { pendingTests } from '../postgres/former-groups.ts';
import { ownerDifferences } from '../postgres/owners.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import { everyRepositoryId } from '../postgres/repositories.ts';
import { ingestBlocks } from '../postgres/schema.ts';
import { listingDifferences } from '../postgres/test-listings.ts';
import { repositoriesLeaving } from './leaving.ts';
import { readNewestRuns } from './newest-runs.ts';
import { currentGroupOf, wronglyGrouped } from './regroup.ts';
import { isRegrouped } from './regroup-online.ts';
import { renameDifferences } from './rename-tests.ts';
import { causeDifferences } from './verify-causes.ts';
import { commitDifferences } from './verify-commits.ts';
import { durationDifferences } from './verify-durations.ts';
import { compareLedger, type LedgerComparison, type LedgerDeps } from './verify-ledger.ts';
import { totalsDifferences } from './verify-totals.ts';

const DIFFERENCES_SHOWN_MAX = 20;

/** A row for each difference, with a sentence about it and the id of the test or run that it concerns. */
const difference = z.object({ difference: z.string(), about: z.string() });
const CHECKS = [
  { name: 'executions: each is stored once', query: defineLongQuery('verify/executions', scope, difference) },
  {
    name: 'failures: as many as their executions report',
    query: defineLongQuery('verify/failures', scope, difference),
  },
  { name: 'runs: totals of each day', query: defineLongQuery('verify/runs', scope, difference) },
  {
    name: 'runs of commits: results and failed tests',
    query: defineLongQuery('verify/commit_runs', scope, difference),
  },
];
const storedRepositories = defineLongQuery('verify/repositories', {}, z.object({ repository_id: z.string() }));
const LEDGER = 'ledger: exactly what is claimed is stored';
const storedExecutions = defineLongQuery('verify/stored', {}, z.object({ executions: z.number() }));

/** Beside a running service, a block may be stored between two reads. Then everything is compared again. */
const ATTEMPTS_MAX = 3;

export interface VerifyReport {
  isConsistent: boolean;
  executions: number;
  checks: { name: string; differences: string[]; count: number }[];
  /** Whether exactly what the ledger claims is stored. A rebuild cannot change that. */
  isComplete: boolean;
  /** Blocks that are recorded but not stored or not evaluated yet. What they bring is not compared. */
  pendingBlocks: number;
  /**
   * After an upgrade that changed the fingerprint: distinct messages that wait for their new group, and tests that wait
   * for their state. What they change is not compared.
   */
  regrouping: { messages: number; tests: number };
}

/** Their verdicts and groups change; the trouble of runs does not. */
function addMoved(pending: PendingTests, repositoryId: string, testIds: readonly string[]): void {
  const known = pending.get(repositoryId) ?? new Map<string, number>();
  pending.set(repositoryId, known);
  for (const testId of testIds) if (!known.has(testId)) known.set(testId, Number.POSITIVE_INFINITY);
}

export interface VerifyDeps extends LedgerDeps {
  quarantines: QuarantineStore;
  log: Logger;
}

/** Verifies everything or one repository; the ledger is always compared as a whole. */
export async function verify(deps: VerifyDeps, repositoryId?: string): Promise<VerifyReport> {
  for (let attempt = 1; ; attempt++) {
    const before = await newestBlock(deps.postgres.db);
    const report = await compare(deps, repositoryId);
    const isDisturbed = (await newestBlock(deps.postgres.db)) !== before;
    if (report.isConsistent || !isDisturbed || attempt === ATTEMPTS_MAX) return report;
    deps.log.info({ attempt }, 'blocks were stored while everything was compared; comparing again');
  }
}

async function newestBlock(db: Database): Promise<number> {
  const [row] = await onPostgres(() => db.select({ newest: max(ingestBlocks.blockId) }).from(ingestBlocks));
  return row?.newest ?? 0;
}

/** The findings of one look. */
export interface Look {
  /** Every difference, by check, in the order of the checks. */
  differences: Map<string, string[]>;
  pendingBlocks: number;
  regrouping: VerifyReport['regrouping'];
}

/**
 * Compares everything that is derived, of all repositories or of one.
 *
 * @param executionsAtOnce how many are held in memory and judged at once
 */
export async function lookAt(
  { clickhouse, postgres, quarantines, clock }: VerifyDeps,
  repositoryId?: string,
  executionsAtOnce?: number,
): Promise<Look> {
  // Before what is pending: what was evaluated in between is noted, and what was not is pending.
  const newest = await readNewestRuns(clickhouse, repositoryId);
  const pending = await readPending(postgres.db);
  for (const id of pending.repositories) newest.delete(id);
  const differences = new Map<string, string[]>();
  for (const { name, query } of CHECKS) {
    const rows = await clickhouse.select(query, scopeOf(repositoryId));
    const found = rows.filter(({ about }) => !pending.arriving.has(about));
    differences.set(
      name,
      found.map((row) => row.difference),
    );
  }
  const isRegroupingDone = await isRegrouped(postgres.db);
  const groups: string[] = [];
  const grouped = wronglyGrouped(clickhouse, currentGroupOf, repositoryId === undefined ? {} : { repositoryId });
  for await (const found of grouped)
    groups.push(
      ...found.map(
        ({ testId, failureId, movedTo }) =>
          `a failure of test ${testId} is in group ${failureId}, but belongs in ${movedTo}`,
      ),
    );
  differences.set('failure groups: as their fingerprints say', isRegroupingDone ? groups : []);
  const moved = await pendingTests(postgres.db);
  for (const [id, testIds] of moved) addMoved(pending.tests, id, testIds);
  differences.set(
    'verdicts, state of tests and recovery: as the rules say',
    await verifyJudgements({ clickhouse, db: postgres.db, quarantines }, pending, {
      repositoryId,
      executionsAtOnce,
    }),
  );
  differences.set(
    'names of tests: as renames say',
    await renameDifferences({ clickhouse, db: postgres.db }, repositoryId),
  );
  differences.set('lists: by the number of executions', await listingDifferences(postgres.db, repositoryId));
  differences.set(
    'owners of tests: as CODEOWNERS and settings say',
    await ownerDifferences(postgres.db, (id) => (pending.tests.get(id)?.size ?? 0) > 0, repositoryId),
  );
  differences.set(
    'repositories: tests by health, now and day by day, and the newest run',
    await totalsDifferences(
      postgres.db,
      { newest, firstDay: firstDayOf(clock.now()), stale: pending.stale },
      repositoryId,
    ),
  );
  differences.set(
    'commits: records as the executions say',
    await commitDifferences({ clickhouse, db: postgres.db }, pending.commits, repositoryId),
  );
  differences.set(
    'causes: as the rule joins the failures',
    isRegroupingDone ? await causeDifferences({ clickhouse, db: postgres.db }, pending, repositoryId) : [],
  );
  differences.set(
    'durations: as the executions of four weeks give',
    await durationDifferences({ clickhouse, db: postgres.db }, pending, repositoryId),
  );
  return {
    differences,
    pendingBlocks: pending.blocks,
    regrouping: {
      messages: isRegroupingDone ? 0 : groups.length,
      tests: [...moved]
        .filter(([id]) => repositoryId === undefined || id === repositoryId)
        .reduce((sum, [, { length }]) => sum + length, 0),
    },
  };
}

/** How many executions are stored, and whether they are those that the ledger claims. */
export async function lookAtLedger(deps: VerifyDeps): Promise<{ ledger: LedgerComparison; executions: number }> {
  const ledger = await compareLedger(deps);
  const [stored] = await deps.clickhouse.select(storedExecutions, {});
  return { ledger, executions: stored?.executions ?? 0 };
}

/** The report of looks at different repositories, and of one at the ledger. */
export function reportOf(
  looks: readonly Look[],
  { ledger, executions }: Awaited<ReturnType<typeof lookAtLedger>>,
): VerifyReport {
  const names = new Set(looks.flatMap(({ differences }) => [...differences.keys()]));
  const checks = [...names].map((name) => {
    const found = looks.flatMap(({ differences }) => differences.get(name) ?? []);
    return { name, count: found.length, differences: found.slice(0, DIFFERENCES_SHOWN_MAX) };
  });
  checks.push({ name: LEDGER, count: ledger.count, differences: ledger.differences });
  return {
    isConsistent: checks.every((check) => check.count === 0),
    isComplete: ledger.count === 0,
    executions,
    checks,
    pendingBlocks: Math.max(0, ...looks.map(({ pendingBlocks }) => pendingBlocks)),
    regrouping: {
      messages: looks.reduce((sum, { regrouping }) => sum + regrouping.messages, 0),
      tests: looks.reduce((sum, { regrouping }) => sum + regrouping.tests, 0),
    },
  };
}

async function compare(deps: VerifyDeps, repositoryId?: string): Promise<VerifyReport> {
  const isLeaving = repositoryId === undefined && (await repositoriesLeaving(deps.postgres.db)).length > 0;
  const looks: Look[] = [];
  // A look at everything cannot leave out what is being deleted or forgotten.
  for (const id of isLeaving ? await repositoriesToLookAt(deps) : [repositoryId]) looks.push(await lookAt(deps, id));
  return reportOf(looks, await lookAtLedger(deps));
}

/** The ids of all repositories of which either store has something, without those of which rows are leaving. */
export async function repositoriesToLookAt({
  clickhouse,
  postgres: { db },
}: Pick<VerifyDeps, 'clickhouse' | 'postgres'>): Promise<ReadonlySet<string>> {
  const known = await everyRepositoryId(db);
  const stored = await clickhouse.select(storedRepositories, {});
  const leaving = new Set(await repositoriesLeaving(db));
  return new Set([...known, ...stored.map((row) => row.repository_id)]).difference(leaving);
}

/** The report as the API and the command show it. */
export const documentOf = (report: VerifyReport): VerifyReportDocument => ({
  is_consistent: report.isConsistent,
  is_complete: report.isComplete,
  executions: report.executions,
  pending_blocks: report.pendingBlocks,
  regrouping: report.regrouping,
  checks: report.checks,
});
