/** Whether ClickHouse drops an insert that it has under the same token. Exactly-once hangs on it. */
import { z } from 'zod';
import { UserError } from '../errors.ts';
import type { ClickHouse } from './client.ts';
import { ShardByShard } from './shards.ts';

/** Filled through a view, as blocks are, and directly, as events are. */
const TABLES = ['ci.probe_lines', 'ci.probes'] as const;

/** Inserts twice under one token, and counts. Needs the tables of the migrations. */
export async function dropsRepeats(clickhouse: ClickHouse, id: string = crypto.randomUUID()): Promise<boolean> {
  const shard = await clickhouse.shardOf(id);
  for (const table of TABLES)
    for (let times = 0; times < 2; times++)
      await clickhouse.insert(
        table,
        JSON.stringify({ repository_id: id }),
        `probe-${table.replace('.', '-')}-${id}`,
        shard,
      );
  const rows = await clickhouse.rows(
    'SELECT toUInt32(count()) AS stored FROM ci.probes WHERE repository_id = {repository_id: UUID}',
    { repository_id: id },
  );
  return z.tuple([z.object({ stored: z.number() })]).parse(rows)[0].stored === TABLES.length;
}

export const REPEATS_SENTENCE =
  'ClickHouse stored twice what was inserted twice under one token, so a resent upload could count twice.';

/** So many random ids are on every shard. */
const IDS = 1_000;

/** Throws a {@link UserError} if it stores a repeat. On a cluster, it asks one shard that answers. */
export async function assertDropsRepeats(clickhouse: ClickHouse): Promise<void> {
  const shards = new ShardByShard(clickhouse);
  let isDropped: boolean | undefined;
  for (let left = IDS; left > 0 && isDropped === undefined; left--) {
    const id = crypto.randomUUID();
    isDropped = await shards.attempt(await clickhouse.shardOf(id), () => dropsRepeats(clickhouse, id));
  }
  if (isDropped) return;
  if (isDropped === undefined) shards.rethrow();
  throw new UserError(`${REPEATS_SENTENCE} \`ci-insights doctor\` says what to check.`);
}
