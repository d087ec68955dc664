/**
 * Quarantines of causes. Each test that a cause hits gets a quarantine for the failure groups that are its failures, which every
 * reader of quarantines understands. After causes were derived, these follow: new groups are covered, and so are tests that the
 * cause has hit since.
 */
import { and, count, eq, gt, gte, isNotNull, isNull, or, sql } from 'drizzle-orm';
import { z } from 'zod';
import { failuresOfTest } from '../domain/cause-failures.ts';
import { newEvent } from '../domain/events.ts';
import { QUARANTINE_FAILURES_MAX, QUARANTINES_MAX } from '../domain/limits.ts';
import { causeOf } from './cause-details.ts';
import { nameOfCause, readCauseTerms } from './cause-terms.ts';
import type { Executor } from './client.ts';
import { plainColumn } from './columns.ts';
import { recordEvents } from './outbox.ts';
import {
  columns,
  healthNow,
  isInForce,
  isOpen,
  metadataOf,
  type NamedActor,
  type Quarantine,
  recordDeed,
  termsOf,
} from './quarantine-records.ts';
import { lockRoom, requireRoom } from './quarantine-room.ts';
import { insertQuarantine, removeQuarantine } from './quarantine-rows.ts';
import type { QuarantineStore } from './quarantines.ts';
import { causeGroups, causeNodes, quarantinedCauses, quarantines, tests } from './schema.ts';

/** What is agreed on the quarantine of a cause. */
export interface CauseQuarantine {
  reason: string;
  /** Branch or pattern; null: every branch. */
  branch: string | null;
  expiresAt: Date | null;
}

/** The actor of what follows a cause. */
const FOLLOWER: NamedActor = { name: 'causes', actor: null };

interface Doing {
  by: NamedActor;
  now: number;
}

/**
 * Quarantines the failures of a cause.
 *
 * @param id that of the cause, or of one that was merged into it
 * @returns undefined if there is no such cause, 'taken' if it is quarantined already. Throws NoRoomForQuarantine
 */
export async function quarantineCause(
  store: QuarantineStore,
  repositoryId: string,
  id: string,
  wanted: CauseQuarantine,
  by: NamedActor,
): Promise<{ causeId: string; quarantineIds: string[] } | 'taken' | undefined> {
  let isTaken = false;
  const made = await store.change(repositoryId, async (tx, now) => {
    await lockRoom(tx, repositoryId);
    const causeId = await causeOf(tx, repositoryId, id);
    if (causeId === undefined) return undefined;
    isTaken = (await readQuarantinedCauses(tx, repositoryId, [causeId])).has(causeId);
    if (isTaken) return undefined;
    const row = { ...wanted, actor: by.name, createdAt: new Date(now) };
    await tx
      .insert(quarantinedCauses)
      .values({ repositoryId, causeId, ...row })
      .onConflictDoUpdate({ target: [quarantinedCauses.repositoryId, quarantinedCauses.causeId], set: row });
    const hit = await failuresOfCause(tx, repositoryId, causeId);
    const quarantineIds = await quarantineTests(tx, repositoryId, { ...row, causeId }, hit, { by, now });
    await requireRoom(tx, repositoryId);
    await recordCauseDeed(tx, repositoryId, 'cause.quarantine', causeId, { by, now, after: shownOf(wanted) });
    return { causeId, quarantineIds };
  });
  return isTaken ? 'taken' : made;
}

/** Ends the quarantine of a cause, and those of its tests. Whether there was one. */
export async function releaseCause(
  store: QuarantineStore,
  repositoryId: string,
  id: string,
  by: NamedActor,
): Promise<boolean> {
  const released = await store.change(repositoryId, async (tx, now) => {
    await lockRoom(tx, repositoryId);
    const causeId = await causeOf(tx, repositoryId, id);
    if (causeId === undefined) return undefined;
    const known = (await readQuarantinedCauses(tx, repositoryId, [causeId])).get(causeId);
    if (!known) return undefined;
    const nodes = nodesOf(tx, repositoryId, causeId);
    await tx
      .delete(quarantinedCauses)
      .where(and(eq(quarantinedCauses.repositoryId, repositoryId), sql`${quarantinedCauses.causeId} in ${nodes}`));
    const open = await tx
      .select({ id: quarantines.id })
      .from(quarantines)
      .where(and(eq(quarantines.repositoryId, repositoryId), sql`${quarantines.causeId} in ${nodes}`, isInForce));
    for (const one of open) await removeQuarantine(tx, repositoryId, one.id, { by, now });
    await recordCauseDeed(tx, repositoryId, 'cause.release', causeId, { by, now, before: shownOf(known) });
    return true;
  });
  return released ?? false;
}

/** Lets quarantines of causes cover what their causes are now. To be called when causes were derived; a repeat changes nothing. */
export async function followCauses(store: QuarantineStore, repositoryId: string): Promise<void> {
  await store.change(repositoryId, async (tx, now) => {
    const [open, whole] = [await openOfCauses(tx, repositoryId), await readQuarantinedCauses(tx, repositoryId)];
    if (open.length === 0 && whole.size === 0) return undefined;
    await lockRoom(tx, repositoryId);
    const causes = await currentCauses(
      tx,
      repositoryId,
      open.flatMap(({ causeId }) => causeId ?? []),
    );
    let isChanged = false;
    for (const causeId of new Set([...causes.values(), ...whole.keys()])) {
      const hit = await failuresOfCause(tx, repositoryId, causeId);
      const own = open.filter((one) => causes.get(one.causeId ?? '') === causeId);
      for (const one of own)
        if (await coverFailures(tx, repositoryId, one, hit.get(one.testId)?.failureIds, now)) isChanged = true;
      const terms = whole.get(causeId);
      if (!terms) continue;
      const known = await testsSince(tx, repositoryId, causeId, terms.createdAt);
      const added = new Map(
        [...hit].filter(([testId]) => !known.has(testId)).slice(0, await roomLeft(tx, repositoryId)),
      );
      const made = await quarantineTests(tx, repositoryId, { ...terms, causeId }, added, { by: FOLLOWER, now });
      if (made.length > 0) isChanged = true;
    }
    return isChanged || undefined;
  });
}

/** The failures of a cause in one test. */
interface HitTest {
  testName: string;
  failureIds: string[];
}

const messageRow = z.object({ exception_type: z.string(), message: z.string(), is_generic: z.boolean() });
const hitRow = z.object({ test_id: z.string(), test_name: z.string(), failure_ids: z.array(z.string()) });

/** By test. Of a cause that hits more tests than a repository may quarantine, one more than these. */
async function failuresOfCause(tx: Executor, repositoryId: string, causeId: string): Promise<Map<string, HitTest>> {
  const { rows: nodes } = await tx.execute(sql`
    select exception_type, message, is_generic from ${causeNodes}
    where repository_id = ${repositoryId} and cause_id = ${causeId} and failures > 0
    order by last_ms desc, node_id limit ${QUARANTINE_FAILURES_MAX}`);
  const messages = nodes
    .map((row) => messageRow.parse(row))
    .map((row) => ({ exceptionType: row.exception_type, message: row.message, isGeneric: row.is_generic }));
  const { rows } = await tx.execute(sql`
    select g.test_id, t.name as test_name, array_agg(g.failure_id order by n.last_ms desc, g.failure_id) as failure_ids
    from ${causeNodes} as n join ${causeGroups} as g using (repository_id, node_id)
    join ${tests} as t on t.repository_id = g.repository_id and t.test_id = g.test_id
    where n.repository_id = ${repositoryId} and n.cause_id = ${causeId}
    group by g.test_id, t.name order by g.test_id limit ${QUARANTINES_MAX + 1}`);
  return new Map(
    rows
      .map((row) => hitRow.parse(row))
      .map((row) => [
        row.test_id,
        { testName: row.test_name, failureIds: failuresOfTest(row.test_id, row.failure_ids, messages) },
      ]),
  );
}

/** Owner and ticket are those of the cause, else the owner of the test. Returns the ids of the new ones. */
async function quarantineTests(
  tx: Executor,
  repositoryId: string,
  { causeId, reason, branch, expiresAt }: CauseQuarantine & { causeId: string },
  hit: ReadonlyMap<string, HitTest>,
  doing: Doing,
): Promise<string[]> {
  const terms = (await readCauseTerms(tx, repositoryId, [causeId])).get(causeId);
  const ids: string[] = [];
  for (const { testName, failureIds } of hit.values()) {
    const wanted = {
      ...{ testName, reason, branch, expiresAt, failureIds, causeId },
      ...{ ticketUrl: terms?.ticketUrl ?? null, source: 'manual' as const },
      ...(terms?.owner != null && { owner: terms.owner }),
    };
    const made = await insertQuarantine(tx, repositoryId, wanted, doing);
    if (made) ids.push(made.id);
  }
  return ids;
}

/** Whether that changed the quarantine. Groups of a test that the cause does not hit any more stay. */
async function coverFailures(
  tx: Executor,
  repositoryId: string,
  before: Quarantine,
  failureIds: string[] | undefined,
  now: number,
): Promise<boolean> {
  if (failureIds === undefined || JSON.stringify(failureIds) === JSON.stringify(before.failureIds)) return false;
  const [after] = await tx
    .update(quarantines)
    .set({ failureIds })
    .where(and(eq(quarantines.id, before.id), isInForce))
    .returning(columns);
  if (!after) return false;
  const metadata = {
    ...metadataOf(after, await healthNow(tx, repositoryId, after.testId)),
    quarantine_attributes_before: termsOf(before),
    updated_by: FOLLOWER.actor,
    updated_at: new Date(now).toISOString(),
  };
  await recordEvents(
    tx,
    repositoryId,
    [newEvent('test.quarantine.updated', metadata, { trigger: FOLLOWER.name })],
    now,
  );
  return true;
}

const openOfCauses = (tx: Executor, repositoryId: string): Promise<Quarantine[]> =>
  tx
    .select(columns)
    .from(quarantines)
    .where(and(eq(quarantines.repositoryId, repositoryId), isNotNull(quarantines.causeId), isInForce));

const nodesOf = (tx: Executor, repositoryId: string, causeId: string) =>
  tx
    .select({ id: causeNodes.nodeId })
    .from(causeNodes)
    .where(and(eq(causeNodes.repositoryId, repositoryId), eq(causeNodes.causeId, causeId)));

/** Tests with a quarantine of the cause since some moment: also those that a person has released from it, who meant it. */
async function testsSince(tx: Executor, repositoryId: string, causeId: string, since: Date): Promise<Set<string>> {
  const rows = await tx
    .selectDistinct({ testId: quarantines.testId })
    .from(quarantines)
    .where(
      and(
        eq(quarantines.repositoryId, repositoryId),
        sql`${quarantines.causeId} in ${nodesOf(tx, repositoryId, causeId)}`,
        or(isOpen, gte(quarantines.removedAt, since)),
      ),
    );
  return new Set(rows.map(({ testId }) => testId));
}

/** How many quarantines people may still have. */
async function roomLeft(tx: Executor, repositoryId: string): Promise<number> {
  const [found] = await tx
    .select({ open: count() })
    .from(quarantines)
    .where(and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.source, 'manual'), isOpen));
  return Math.max(0, QUARANTINES_MAX - (found?.open ?? 0));
}

const nodeRow = z.object({ node_id: z.string(), cause_id: z.string() });

/** What nodes belong to now. */
async function currentCauses(tx: Executor, repositoryId: string, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map();
  const { rows } = await tx.execute(sql`
    select node_id, cause_id from ${causeNodes}
    where repository_id = ${repositoryId} and node_id = any(${plainColumn([...new Set(ids)])}::uuid[])`);
  return new Map(rows.map((row) => nodeRow.parse(row)).map((row) => [row.node_id, row.cause_id]));
}

export type QuarantinedCause = CauseQuarantine & { createdAt: Date; actor: string };

/** The causes, of some or of all of a repository, that are quarantined now. Of several that were merged, the oldest quarantine. */
export async function readQuarantinedCauses(
  tx: Executor,
  repositoryId: string,
  causeIds?: readonly string[],
): Promise<Map<string, QuarantinedCause>> {
  const rows = await tx
    .select({
      causeId: causeNodes.causeId,
      reason: quarantinedCauses.reason,
      branch: quarantinedCauses.branch,
      expiresAt: quarantinedCauses.expiresAt,
      actor: quarantinedCauses.actor,
      createdAt: quarantinedCauses.createdAt,
    })
    .from(quarantinedCauses)
    .innerJoin(
      causeNodes,
      and(
        eq(causeNodes.repositoryId, quarantinedCauses.repositoryId),
        eq(causeNodes.nodeId, quarantinedCauses.causeId),
      ),
    )
    .where(
      and(
        eq(quarantinedCauses.repositoryId, repositoryId),
        or(isNull(quarantinedCauses.expiresAt), gt(quarantinedCauses.expiresAt, sql`now()`)),
        causeIds && sql`${causeNodes.causeId} = any(${plainColumn(causeIds)}::uuid[])`,
      ),
    )
    .orderBy(quarantinedCauses.createdAt);
  return new Map(rows.toReversed().map(({ causeId, ...one }) => [causeId, one]));
}

const shownOf = ({ reason, branch, expiresAt }: CauseQuarantine) => ({
  reason,
  branch,
  expires_at: expiresAt?.toISOString() ?? null,
});

async function recordCauseDeed(
  tx: Executor,
  repositoryId: string,
  action: 'cause.quarantine' | 'cause.release',
  causeId: string,
  deed: Doing & Pick<Parameters<typeof recordDeed>[4], 'before' | 'after'>,
): Promise<void> {
  const testName = (await nameOfCause(tx, repositoryId, causeId)) ?? '';
  await recordDeed(tx, repositoryId, action, { id: causeId, testName }, deed);
}
