/** The uploads whose chunks the worker has taken, newest first, with their receipts. */
import { and, inArray, isNull, type SQL, sql } from 'drizzle-orm';
import { z } from 'zod';
import type { RepositoryName } from '../domain/repository-path.ts';
import { type Database, onPostgres } from '../postgres/client.ts';
import type { RefusedUploads } from '../postgres/refused-uploads.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { deadLetters, repositories, uploadChunks } from '../postgres/schema.ts';
import { assembleReceipt, type Chunk, chunkColumns, type Receipt, receiptOfRefusal } from './receipt.ts';

/** With the repository that it is for. */
export interface ListedReceipt extends Receipt {
  repository: RepositoryName;
}

/** Milliseconds since the epoch, and the id of the upload. */
export type ReceiptKey = [receivedMs: number, uploadId: string];

export interface ReceiptListRequest {
  /** Null: of every repository. */
  repository: RepositoryName | null;
  /** Only uploads in which a row was rejected. */
  isRejectedOnly: boolean;
  /** Only uploads that people should look at: refused, rejected in parts, in conflict, or with a warning. */
  isProblemOnly: boolean;
  /** The row before the first that is wanted; null: from the newest, or in the other direction from the oldest. */
  key: ReceiptKey | null;
  direction: 'next' | 'previous';
  rows: number;
}

const pageRow = z.object({
  received_ms: z.coerce.number(),
  upload_id: z.string(),
  repository_id: z.string(),
  owner: z.string(),
  name: z.string(),
});

interface ReceiptListDeps {
  db: Database;
  repositories: RepositoryStore;
  refusals: RefusedUploads;
}

/** Nearest to the key first. What was refused before any worker saw it has its place in time among the others. */
export async function listReceipts(deps: ReceiptListDeps, request: ReceiptListRequest): Promise<ListedReceipt[]> {
  const [taken, refused] = await Promise.all([
    takenUploads(deps, request),
    request.isRejectedOnly ? [] : deps.refusals.page(request),
  ]);
  const listed = refused.map((one) => ({
    ...receiptOfRefusal(one),
    repository: { owner: one.owner, name: one.repository },
  }));
  const sign = request.direction === 'next' ? -1 : 1;
  return [...taken, ...listed]
    .sort(
      (one, other) => sign * (one.receivedAt.getTime() - other.receivedAt.getTime() || (one.id < other.id ? -1 : 1)),
    )
    .slice(0, request.rows);
}

async function takenUploads(
  { db, repositories: known }: ReceiptListDeps,
  request: ReceiptListRequest,
): Promise<ListedReceipt[]> {
  const { repository } = request;
  const found = repository && (await known.find(repository.owner, repository.name));
  if (repository && !found) return [];
  const { rows } = await onPostgres(() => db.execute(receiptPageStatement(request, found?.id ?? null)));
  const page = rows.map((row) => pageRow.parse(row));
  if (page.length === 0) return [];
  const uploadIds = page.map((row) => row.upload_id);
  const [chunks, letters] = await onPostgres(() =>
    Promise.all([
      db.select(chunkColumns).from(uploadChunks).where(inArray(uploadChunks.uploadId, uploadIds)),
      db
        .select({ uploadId: deadLetters.uploadId, reason: deadLetters.reason })
        .from(deadLetters)
        .where(and(inArray(deadLetters.uploadId, uploadIds), isNull(deadLetters.replayedAt))),
    ]),
  );
  const byUpload = Map.groupBy(chunks, keyOf);
  const failures = new Map(letters.map(({ uploadId, reason }) => [uploadId, reason]));
  return page.flatMap(({ upload_id: uploadId, repository_id: repositoryId, owner, name }) => {
    const own = byUpload.get(keyOf({ uploadId, repositoryId })) ?? [];
    const [first] = own;
    if (!first) return [];
    return [{ ...assembleReceipt(first, own, failures.get(uploadId) ?? null), repository: { owner, name } }];
  });
}

const keyOf = ({ uploadId, repositoryId }: Pick<Chunk, 'uploadId' | 'repositoryId'>): string =>
  `${uploadId} ${repositoryId}`;

/**
 * The chunks of an upload are received at the same time. So they are neighbours in the index by repository and time, and
 * a page reads as much of it as it shows. The list of all repositories reads the index by time, and what people
 * should look at has a separate index, because it is rare.
 */
function receiptPageStatement(
  { isRejectedOnly, isProblemOnly, key, direction, rows }: ReceiptListRequest,
  repositoryId: string | null,
): SQL {
  const isNext = direction === 'next';
  const order = isNext ? sql`desc` : sql`asc`;
  const conditions = [
    ...(repositoryId === null ? [] : [sql`repository_id = ${repositoryId}`]),
    ...(isRejectedOnly || isProblemOnly ? [sql`has_problem`] : []),
    ...(isRejectedOnly ? [sql`rejected > 0`] : []),
    ...(key === null
      ? []
      : [sql`(received_at, upload_id) ${isNext ? sql`<` : sql`>`} (${new Date(key[0]).toISOString()}, ${key[1]})`]),
  ];
  return sql`
    select extract(epoch from page.received_at) * 1000 as received_ms, upload_id, repository_id, owner, name
    from (
      select distinct received_at, upload_id, repository_id from ${uploadChunks}
      where ${conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)}
      order by received_at ${order}, upload_id ${order} limit ${rows}
    ) as page join ${repositories} on repositories.id = page.repository_id
    order by page.received_at ${order}, upload_id ${order}`;
}
