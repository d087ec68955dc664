/**
 * Ingests, reads and verifies on a given PostgreSQL, directly or through a pooler, for versions that this repository does not
 * install: `DATABASE_URL=… [DATABASE_DIRECT_URL=…] bun tests/faults/postgres-versions.ts`. Prints the version and what was stored; exits
 * with 1 on a difference.
 */

import { rmSync } from 'node:fs';
import { readConfig } from '../../src/config.ts';
import { openDeps } from '../../src/deps.ts';
import { verify } from '../../src/maintenance/verify.ts';
import { testRuns } from '../../src/queue/test-runs.ts';
import { startWorkers } from '../../workers/main.ts';
import { makeFolder } from '../support/folder.ts';
import { makeJob } from '../support/jobs.ts';
import { until } from '../support/patience.ts';

const DATA_DIR = makeFolder('version');
const deps = await openDeps(readConfig({ ...process.env, DATA_DIR, LOG_LEVEL: 'error' }));
try {
  const { rows } = await deps.postgres.pool.query<{ version: string }>('select version()');
  void deps.notifications.connect();
  const workers = startWorkers(deps, { evaluationPauseMs: 0 });
  const repository = { owner: 'acme', name: `version-${Date.now()}` };
  const executions = Array.from({ length: 200 }, (_, nth) => ({
    name: `t${nth}`,
    status: nth % 5 === 0 ? ('failed' as const) : ('passed' as const),
  }));
  const jobs = Array.from({ length: 20 }, (_, run) =>
    makeJob({
      repository,
      executions,
      receivedAt: Date.now(),
      run: { run_id: `r${run}`, commit: `c${run}`, branch: 'main' },
    }),
  );
  await deps.producers.of(testRuns).addMany([...jobs, ...jobs]);
  await until(async () => (await deps.producers.of(testRuns).depth()) === 0);
  for (const { loop } of workers.evaluators) await loop.idle();
  await until(() => deps.notifications.isConnected);
  const report = await verify(deps);
  await workers.stop();
  const differences = report.checks.filter((check) => check.count > 0);
  console.log(
    rows[0]?.version.split(' on ')[0],
    JSON.stringify({ executions: report.executions, isListening: deps.notifications.isConnected, differences }),
  );
  if (!report.isConsistent || report.executions !== jobs.length * executions.length) process.exitCode = 1;
} finally {
  await deps.close();
  rmSync(DATA_DIR, { recursive: true, force: true });
}
