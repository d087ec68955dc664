/** Shared by the stores of quarantines: their columns, the events of their changes, and the repository's revision. */
import { and, eq, gt, inArray, isNull, or, sql } from 'drizzle-orm';
import type { AuditAction, AuditActor, AuditDeed } from '../domain/audit.ts';
import { type EventActor, newEvent } from '../domain/events.ts';
import type { Health } from '../domain/status.ts';
import { healthOfTest } from '../domain/test-state.ts';
import { recordAudit } from './audit.ts';
import type { Executor } from './client.ts';
import { readIdentities } from './identities.ts';
import { quarantines, repositories } from './schema.ts';

/** The channel of NOTIFY: `<repository id>:<revision>` when the quarantines of a repository have changed. */
export const QUARANTINES_CHANNEL = 'ci_insights_quarantines';

export type Quarantine = Omit<
  typeof quarantines.$inferSelect,
  'repositoryId' | 'removedAt' | 'removedBy' | 'narrowing' | 'announcedExpiry'
>;

/** Terms that may be agreed on a quarantine, and changed later. */
export type QuarantineTerms = Pick<
  Quarantine,
  'pipelineName' | 'jobName' | 'axes' | 'failureIds' | 'expiresAt' | 'owner' | 'ticketUrl'
>;

/** Who changes something. */
export interface NamedActor {
  /** Recorded, and the trigger of the event. */
  name: string;
  /** Null for the service itself. */
  actor: EventActor | null;
  /** For the trail; absent for the service itself, whose doing the event log tells. */
  audit?: AuditActor;
}

export const columns = {
  id: quarantines.id,
  testId: quarantines.testId,
  testName: quarantines.testName,
  reason: quarantines.reason,
  branch: quarantines.branch,
  pipelineName: quarantines.pipelineName,
  jobName: quarantines.jobName,
  axes: quarantines.axes,
  failureIds: quarantines.failureIds,
  causeId: quarantines.causeId,
  expiresAt: quarantines.expiresAt,
  owner: quarantines.owner,
  ticketUrl: quarantines.ticketUrl,
  source: quarantines.source,
  isScopeChosen: quarantines.isScopeChosen,
  actor: quarantines.actor,
  createdAt: quarantines.createdAt,
  isRecovered: quarantines.isRecovered,
};
export const isOpen = isNull(quarantines.removedAt);
/** Open, and its end has not come: a worker removes it then, which may be later. By the clock of PostgreSQL. */
export const isInForce = and(isOpen, or(isNull(quarantines.expiresAt), gt(quarantines.expiresAt, sql`now()`)));

/** The terms as records and events show them. */
export const termsOf = ({
  pipelineName,
  jobName,
  axes,
  failureIds,
  causeId,
  expiresAt,
  owner,
  ticketUrl,
}: QuarantineTerms & Pick<Quarantine, 'causeId'>) => ({
  pipeline_name: pipelineName,
  job_name: jobName,
  axes,
  failure_ids: failureIds,
  cause_id: causeId,
  expires_at: expiresAt?.toISOString() ?? null,
  owner,
  ticket_url: ticketUrl,
});

/** Metadata of every event about a quarantine. */
export const metadataOf = (quarantine: Quarantine, health: Health | null) => ({
  quarantine_id: quarantine.id,
  test_id: quarantine.testId,
  test_name: quarantine.testName,
  branch: quarantine.branch,
  reason: quarantine.reason,
  source: quarantine.source,
  health_status_at_event: health,
  ...termsOf(quarantine),
});

export const quarantined = (created: Quarantine, health: Health | null, by: NamedActor) =>
  newEvent(
    'test.quarantined',
    {
      ...metadataOf(created, health),
      quarantined_at: created.createdAt.toISOString(),
      quarantined_by: by.actor,
    },
    { trigger: by.name },
  );

export function dequarantined(removed: Quarantine, health: Health | null, by: NamedActor, now: number) {
  const { source, reason, branch, createdAt } = removed;
  const metadata = {
    ...metadataOf(removed, health),
    original_quarantine: { source, reason, branch, created_at: createdAt.toISOString() },
    dequarantined_at: new Date(now).toISOString(),
    dequarantined_by: by.actor,
  };
  return newEvent('test.dequarantined', metadata, { trigger: by.name });
}

/** Writes into the trail what a person or a client did with a quarantine. */
export async function recordDeed(
  tx: Executor,
  repositoryId: string,
  action: AuditAction,
  { id, testName }: Pick<Quarantine, 'id' | 'testName'>,
  { by, now, ...change }: { by: NamedActor; now: number } & Pick<AuditDeed, 'before' | 'after'>,
): Promise<void> {
  if (!by.audit) return;
  const [path] = await tx
    .select({ owner: repositories.owner, repository: repositories.name })
    .from(repositories)
    .where(eq(repositories.id, repositoryId));
  await recordAudit(tx, by.audit, { action, objectId: id, objectName: testName, ...path, ...change }, now);
}

/** A quarantine as the trail describes it. */
export const describedOf = (quarantine: Quarantine) => ({
  branch: quarantine.branch,
  reason: quarantine.reason,
  source: quarantine.source,
  ...termsOf(quarantine),
});

/** The health of a test; null if it never ran on the default branch. */
export async function healthNow(tx: Executor, repositoryId: string, testId: string): Promise<Health | null> {
  const identities = await readIdentities(tx, repositoryId, [testId]);
  return identities.length === 0 ? null : healthOfTest(identities);
}

/** Raises the revision of a repository's quarantines, and notifies those that hold a list. Call it last. */
export async function nextRevision(tx: Executor, repositoryId: string): Promise<number> {
  const [row] = await tx
    .update(repositories)
    .set({ quarantineRevision: sql`${repositories.quarantineRevision} + 1` })
    .where(eq(repositories.id, repositoryId))
    .returning({ revision: repositories.quarantineRevision });
  if (!row) throw new Error(`repository ${repositoryId} is not recorded`);
  await tx.execute(sql`select pg_notify(${QUARANTINES_CHANNEL}, ${`${repositoryId}:${row.revision}`})`);
  return row.revision;
}

/** Which of some repositories have an open quarantine. */
export async function repositoriesWithQuarantines(tx: Executor, repositoryIds: readonly string[]): Promise<string[]> {
  const rows = await tx
    .selectDistinct({ id: quarantines.repositoryId })
    .from(quarantines)
    .where(and(inArray(quarantines.repositoryId, [...repositoryIds]), isOpen));
  return rows.map(({ id }) => id);
}
