/** Repositories for which nothing may be claimed now. */
import { sql } from 'drizzle-orm';
import { z } from 'zod';
import type { Executor } from './client.ts';
import { deletedRepositories, testRenames } from './schema.ts';

/** `deleted` for good; `moving` for as long as what is stored of renamed tests is being moved. */
export type Closed = 'deleted' | 'moving';

const row = z.object({ id: z.string(), why: z.enum(['moving', 'deleted']) });

/** Which of some repositories are closed, and why. Every block asks: two look-ups of an index. */
export async function closedAmong(
  tx: Executor,
  repositoryIds: readonly string[],
): Promise<ReadonlyMap<string, Closed>> {
  const ids = sql.param(repositoryIds);
  const { rows } = await tx.execute(sql`
    select repository_id as id, 'moving' as why from ${testRenames}
      where repository_id = any(${ids}::uuid[]) and not is_applied
    union all
    select id, 'deleted' from ${deletedRepositories} where id = any(${ids}::uuid[])`);
  // If a repository is both, the later one stays.
  return new Map(rows.map((found) => row.parse(found)).map(({ id, why }) => [id, why]));
}
