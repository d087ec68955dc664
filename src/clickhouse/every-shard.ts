/** For what needs all of a cluster, and holds up others meanwhile. */
import { UserError } from '../errors.ts';
import type { ClickHouse } from './client.ts';
import { ShardByShard } from './shards.ts';

const LOOK_SQL = 'SELECT 1 FROM ci.executions WHERE repository_id = {repository_id: UUID} LIMIT 1';

/**
 * Throws a {@link UserError} that names the shards that do not answer, if any.
 *
 * @param what is to be done, as the beginning of a sentence
 */
export async function assertEveryShardAnswers(
  clickhouse: Pick<ClickHouse, 'isSharded' | 'shardOf' | 'shardCount' | 'rows'>,
  what: string,
): Promise<void> {
  const count = await clickhouse.shardCount();
  if (count === 1) return;
  const shards = new ShardByShard(clickhouse);
  const asked = new Set<number>();
  // So many random ids are on every shard that has a weight.
  for (let left = 1_000; left > 0 && asked.size < count; left--) {
    const id = crypto.randomUUID();
    const shard = await clickhouse.shardOf(id);
    if (!asked.has(shard)) await shards.attempt(shard, () => clickhouse.rows(LOOK_SQL, { repository_id: id }));
    asked.add(shard);
  }
  const missing = shards.failed.map((shard) => shard + 1).sort();
  if (missing.length > 0)
    throw new UserError(
      `${what} needs every shard of the ClickHouse cluster, and of ${count} these do not answer: ${missing.join(', ')}. Nothing was changed. Start it again when they do.`,
    );
}
