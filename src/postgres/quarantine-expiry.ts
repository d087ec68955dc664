/**
 * The end of quarantines that were made for a time, and its announcement. Both go by the clock of PostgreSQL, so a
 * worker whose own clock is off changes nothing. Each is one transaction with its event; a row that another worker or
 * a person is changing at this moment is left to the next round, which sees what became of it.
 */
import { and, asc, eq, isNotNull, lte, sql } from 'drizzle-orm';
import { newEvent } from '../domain/events.ts';
import { QUARANTINE_WARNING_DAYS_MAX } from '../domain/quarantine-rules.ts';
import { type Database, type Executor, onPostgres } from './client.ts';
import { recordEvents } from './outbox.ts';
import { columns, dequarantined, healthNow, isOpen, metadataOf, nextRevision } from './quarantine-records.ts';
import { quarantines, repositories } from './schema.ts';

/** The trigger of the events. */
const EXPIRY = { name: 'quarantine-expiry', actor: null };
/** Repositories of one round, and quarantines of one transaction. */
const REPOSITORIES_MAX = 100;
const ROWS_MAX = 200;

const now = sql<Date>`now()`;
const isDue = lte(quarantines.expiresAt, now);
/** Not announced yet for this end, and near enough. An end that has passed is not announced any more. */
const isToAnnounce = and(
  isNotNull(quarantines.expiresAt),
  sql`${quarantines.announcedExpiry} is distinct from ${quarantines.expiresAt}`,
  sql`${quarantines.expiresAt} > now()`,
  // For the index; the days of the repository decide.
  sql`${quarantines.expiresAt} <= now() + make_interval(days => ${QUARANTINE_WARNING_DAYS_MAX})`,
  sql`${quarantines.expiresAt} <= now() + make_interval(days => (
    select ${repositories.quarantineWarningDays} from ${repositories}
    where ${repositories.id} = ${quarantines.repositoryId}))`,
);

/** Ends the quarantines whose time has come. Returns how many; call it again until there is none. */
export const endExpired = (db: Database): Promise<number> =>
  forEachRepository(db, isDue, async (tx, repositoryId) => {
    const ended = await endDue(tx, repositoryId);
    if (ended > 0) await nextRevision(tx, repositoryId);
    return ended;
  });

/** Ends those of a repository, or of one of its tests, within a transaction that raises the revision. */
export async function endDue(tx: Executor, repositoryId: string, testId?: string): Promise<number> {
  const isOfTest = testId === undefined ? undefined : eq(quarantines.testId, testId);
  const ended = await tx
    .select(columns)
    .from(quarantines)
    .where(and(eq(quarantines.repositoryId, repositoryId), isOfTest, isOpen, isDue))
    .orderBy(asc(quarantines.expiresAt), asc(quarantines.id))
    .limit(ROWS_MAX)
    .for('update', { skipLocked: true });
  if (ended.length === 0) return 0;
  const at = await timeOf(tx);
  const events = [];
  for (const quarantine of ended) {
    await tx
      .update(quarantines)
      .set({ removedAt: new Date(at), removedBy: EXPIRY.name })
      .where(eq(quarantines.id, quarantine.id));
    events.push(dequarantined(quarantine, await healthNow(tx, repositoryId, quarantine.testId), EXPIRY, at));
  }
  await recordEvents(tx, repositoryId, events, at);
  return ended.length;
}

/** Announces the quarantines that will soon end, each once for each end. Returns how many. */
export const announceExpiring = (db: Database): Promise<number> =>
  forEachRepository(db, isToAnnounce, async (tx, repositoryId) => {
    const expiring = await tx
      .select(columns)
      .from(quarantines)
      .where(and(eq(quarantines.repositoryId, repositoryId), isOpen, isToAnnounce))
      .orderBy(asc(quarantines.expiresAt), asc(quarantines.id))
      .limit(ROWS_MAX)
      .for('update', { skipLocked: true });
    if (expiring.length === 0) return 0;
    const events = [];
    for (const quarantine of expiring) {
      const { id, testId, createdAt } = quarantine;
      await tx
        .update(quarantines)
        .set({ announcedExpiry: sql`${quarantines.expiresAt}` })
        .where(eq(quarantines.id, id));
      const metadata = {
        ...metadataOf(quarantine, await healthNow(tx, repositoryId, testId)),
        quarantined_at: createdAt.toISOString(),
      };
      events.push(newEvent('test.quarantine.expiring', metadata, { trigger: EXPIRY.name }));
    }
    await recordEvents(tx, repositoryId, events, await timeOf(tx));
    return expiring.length;
  });

async function forEachRepository(
  db: Database,
  condition: typeof isToAnnounce,
  run: (tx: Executor, repositoryId: string) => Promise<number>,
): Promise<number> {
  const due = await onPostgres(() =>
    db
      .selectDistinct({ repositoryId: quarantines.repositoryId })
      .from(quarantines)
      .where(and(isOpen, condition))
      .limit(REPOSITORIES_MAX),
  );
  let changed = 0;
  for (const { repositoryId } of due) changed += await onPostgres(() => db.transaction((tx) => run(tx, repositoryId)));
  return changed;
}

/** When the transaction began; milliseconds since the epoch. */
async function timeOf(tx: Executor): Promise<number> {
  const { rows } = await tx.execute<{ at: number }>(sql`select (extract(epoch from now()) * 1000)::float8 as at`);
  const [row] = rows;
  if (!row) throw new Error('PostgreSQL does not say what time it is');
  return Math.floor(row.at);
}
