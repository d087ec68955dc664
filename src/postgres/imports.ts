/** Imports that were started from the page: the last one of each repository. */
import { and, eq } from 'drizzle-orm';
import { v7 as uuid7 } from 'uuid';
import type { Clock } from '../clock.ts';
import type { AuditActor } from '../domain/audit.ts';
import { type ImportProgressSoFar, importProgressSchema, NO_PROGRESS } from '../domain/import-progress.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { recordAudit } from './audit.ts';
import { type Database, onPostgres } from './client.ts';
import { imports } from './schema.ts';

/** Who imports says so every second or two. After this, it is gone. */
const GONE_MS = 20_000;

type Row = typeof imports.$inferSelect;
export type StoredImport = Omit<Row, 'path' | 'progress'> & { progress: ImportProgressSoFar };

/** The import that is asked for. */
export interface ImportRequest {
  host: string;
  /** As the host has it, such as `acme/shop`. */
  source: string;
  /** Undefined: as far back as one that is continued, or as `sinceDefault`. */
  since: Date | undefined;
  sinceDefault: Date;
}

const pathOf = ({ owner, name }: RepositoryName): string => `${owner}/${name}`.toLowerCase();

export class ImportStore {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {}

  async find(repository: RepositoryName): Promise<StoredImport | undefined> {
    const [row] = await onPostgres(() =>
      this.db
        .select()
        .from(imports)
        .where(eq(imports.path, pathOf(repository))),
    );
    return row && this.#read(row);
  }

  /**
   * Begins one, or continues the last one if it has not finished and has the same source: then its id stays. Undefined if
   * one is running.
   */
  begin(repository: RepositoryName, asked: ImportRequest, by: AuditActor): Promise<StoredImport | undefined> {
    const { owner, name } = repository;
    const { host, source } = asked;
    const path = pathOf(repository);
    const now = new Date(this.clock.now());
    return onPostgres(() =>
      this.db.transaction(async (tx) => {
        const [found] = await tx.select().from(imports).where(eq(imports.path, path)).for('update');
        const last = found && this.#read(found);
        if (last?.status === 'running') return undefined;
        const isSame = last !== undefined && last.host === host && last.source === source;
        const continued = isSame && last.status !== 'finished' && (!asked.since || +asked.since === +last.since);
        const values = {
          id: continued ? last.id : uuid7(),
          ...{ host, source },
          since: continued ? last.since : (asked.since ?? asked.sinceDefault),
          status: 'running' as const,
          ...{ startedAt: now, startedBy: by.name, seenAt: now, finishedAt: null, receipt: null, failure: null },
          progress: JSON.stringify(continued ? last.progress : NO_PROGRESS),
        };
        const [row] = await tx
          .insert(imports)
          .values({ path, ...values })
          .onConflictDoUpdate({ target: imports.path, set: values })
          .returning();
        if (!row) throw new Error('the import was not written');
        const after = { host, source, since: values.since.toISOString(), is_continued: continued };
        const deed = { action: 'import.start', objectId: row.id, owner, repository: name, after } as const;
        await recordAudit(tx, by, deed, now.getTime());
        return this.#read(row);
      }),
    );
  }

  /** Notes how far it is. False: it is to end, because someone has cancelled it. */
  async note(id: string, progress: ImportProgressSoFar): Promise<boolean> {
    const noted = await onPostgres(() =>
      this.db
        .update(imports)
        .set({ progress: JSON.stringify(progress), seenAt: new Date(this.clock.now()) })
        .where(and(eq(imports.id, id), eq(imports.status, 'running')))
        .returning({ id: imports.id }),
    );
    return noted.length > 0;
  }

  /** Says how it ended, unless it was cancelled. */
  async end(
    id: string,
    outcome: { status: 'finished' | 'failed' | 'interrupted'; receipt?: string; failure?: string },
  ): Promise<void> {
    const finishedAt = outcome.status === 'interrupted' ? null : new Date(this.clock.now());
    await onPostgres(() =>
      this.db
        .update(imports)
        .set({ ...outcome, finishedAt })
        .where(and(eq(imports.id, id), eq(imports.status, 'running'))),
    );
  }

  /** Undefined if none is running. */
  cancel(repository: RepositoryName, by: AuditActor): Promise<StoredImport | undefined> {
    const { owner, name } = repository;
    const now = new Date(this.clock.now());
    return onPostgres(() =>
      this.db.transaction(async (tx) => {
        const [row] = await tx
          .update(imports)
          .set({ status: 'cancelled', finishedAt: now })
          .where(and(eq(imports.path, pathOf(repository)), eq(imports.status, 'running')))
          .returning();
        if (!row) return undefined;
        const before = { host: row.host, source: row.source };
        const deed = { action: 'import.cancel', objectId: row.id, owner, repository: name, before } as const;
        await recordAudit(tx, by, deed, now.getTime());
        return this.#read(row);
      }),
    );
  }

  #read({ path: _, progress, ...row }: Row): StoredImport {
    const isGone = row.status === 'running' && row.seenAt.getTime() < this.clock.now() - GONE_MS;
    return {
      ...row,
      status: isGone ? 'interrupted' : row.status,
      progress: importProgressSchema.parse(JSON.parse(progress)),
    };
  }
}
