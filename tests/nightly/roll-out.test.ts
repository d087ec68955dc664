/** The roll-out that `scripts/roll-out.ts` plays on real servers ends well: it compares what was sent with what is stored. */
import { expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { hasRealClickHouse } from '../support/clickhouse-real/server.ts';
import { hasRedis } from '../support/redis.ts';
import { ROOT } from '../support/service-process.ts';

const hasServers = hasRealClickHouse && hasRedis && existsSync('/usr/lib/postgresql');
if (!hasServers) console.error('skipped: a roll-out, because there is no PostgreSQL or no redis-server here');

test.skipIf(!hasServers)('a roll-out, an upgrade, a restore and a copy lose nothing', async () => {
  const { exitCode, stdout, stderr } = Bun.spawnSync([process.execPath, join(ROOT, 'scripts/roll-out.ts')]);
  expect(exitCode, stdout.toString() + stderr.toString()).toBe(0);
  expect(stdout.toString()).toContain('nothing was lost, and nothing counts twice');
});
