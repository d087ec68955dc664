/** Describes a queue in Redis that is stuck: for the message of a test that failed. */
import { connectRedis } from '../../src/queue/redis.ts';

const PREFIX = '{ci-insights}';
const LISTED_MAX = 10;

/** Which jobs are where, who holds those in hand, and which connections wait for what. */
export async function describeQueues(url: string, names: readonly string[]): Promise<string> {
  const redis = await connectRedis(url, 'consumer', () => {});
  const said: string[] = [];
  try {
    for (const name of names) {
      const key = (part: string) => `${PREFIX}:${name}:${part}`;
      const [wait, active, delayed, stalled, marker, meta] = await Promise.all([
        redis.llen(key('wait')),
        redis.lrange(key('active'), 0, LISTED_MAX),
        redis.zcard(key('delayed')),
        redis.smembers(key('stalled')),
        redis.zrange(key('marker'), '0', '-1', 'WITHSCORES'),
        redis.hgetall(key('meta')),
      ]);
      const held = await Promise.all(
        active.map(async (id) => ({
          id,
          exists: await redis.exists(key(id)),
          lockMs: await redis.pttl(key(`${id}:lock`)),
        })),
      );
      said.push(`${name}: ${JSON.stringify({ wait, held, delayed, stalled, marker, meta })}`);
    }
    said.push(String(await redis.call('CLIENT', 'LIST')));
  } finally {
    redis.disconnect();
  }
  return said.join('\n');
}
