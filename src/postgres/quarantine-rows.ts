/** Makes and removes one quarantine, with its event and its entry in the trail; within a transaction that raises the revision. */
import { and, eq } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { QuarantineSource } from '../domain/quarantine-rules.ts';
import { narrowingOf } from '../domain/quarantine-scope.ts';
import type { Executor } from './client.ts';
import { recordEvents } from './outbox.ts';
import { readOwners } from './owners.ts';
import { endDue } from './quarantine-expiry.ts';
import {
  columns,
  dequarantined,
  describedOf,
  healthNow,
  isInForce,
  type NamedActor,
  type Quarantine,
  type QuarantineTerms,
  quarantined,
  recordDeed,
} from './quarantine-records.ts';
import { quarantines } from './schema.ts';
import { namesOfRenamed, testIdNamed } from './test-names.ts';

export interface NewQuarantine extends Partial<QuarantineTerms> {
  testName: string;
  reason: string;
  /** Branch or pattern; null: every branch. Never empty. */
  branch: string | null;
  /** The cause whose failures `failureIds` are. */
  causeId?: string | null;
}

/** Undefined if the test is already quarantined for the same scope. */
export async function insertQuarantine(
  tx: Executor,
  repositoryId: string,
  wanted: NewQuarantine & { source: QuarantineSource },
  { by, now }: { by: NamedActor; now: number },
): Promise<Quarantine | undefined> {
  const { pipelineName = null, jobName = null, axes = null, failureIds = null, causeId = null } = wanted;
  // Under the test that has the name, or had it; and under its name of today.
  const testId = await testIdNamed(tx, repositoryId, wanted.testName);
  const renamed = (await namesOfRenamed(tx, [repositoryId])).get(repositoryId)?.get(testId);
  const row = {
    ...wanted,
    ...(renamed !== undefined && { testName: renamed }),
    id: uuid7(),
    repositoryId,
    testId,
    owner: wanted.owner === undefined ? await firstOwner(tx, repositoryId, testId) : wanted.owner,
    createdAt: new Date(now),
    actor: by.name,
    narrowing: narrowingOf({ pipelineName, jobName, axes, failureIds, causeId }),
    isScopeChosen: wanted.source === 'manual',
  };
  // One that has ended, but that no worker has removed yet, must not stand in the way.
  await endDue(tx, repositoryId, row.testId);
  const [created] = await tx.insert(quarantines).values(row).onConflictDoNothing().returning(columns);
  if (!created) return undefined;
  const health = await healthNow(tx, repositoryId, created.testId);
  await recordDeed(tx, repositoryId, 'quarantine.create', created, { by, now, after: describedOf(created) });
  await recordEvents(tx, repositoryId, [quarantined(created, health, by)], now);
  return created;
}

/** The quarantine as it was; undefined if there is none with this id, or none any more. */
export async function removeQuarantine(
  tx: Executor,
  repositoryId: string,
  id: string,
  { by, now }: { by: NamedActor; now: number },
): Promise<Quarantine | undefined> {
  const [removed] = await tx
    .update(quarantines)
    .set({ removedAt: new Date(now), removedBy: by.name })
    .where(and(eq(quarantines.repositoryId, repositoryId), eq(quarantines.id, id), isInForce))
    .returning(columns);
  if (!removed) return undefined;
  const health = await healthNow(tx, repositoryId, removed.testId);
  await recordDeed(tx, repositoryId, 'quarantine.remove', removed, { by, now, before: describedOf(removed) });
  await recordEvents(tx, repositoryId, [dequarantined(removed, health, by, now)], now);
  return removed;
}

/** Of the owners of a test; null if it has none. */
async function firstOwner(tx: Executor, repositoryId: string, testId: string): Promise<string | null> {
  return (await readOwners(tx, repositoryId, [testId])).get(testId)?.[0] ?? null;
}
