/** The workers of every process may evaluate at once what another one stores. */
import { test } from 'bun:test';
import { DAY_MS } from '../../src/domain/time.ts';
import { evaluatePartition } from '../../src/evaluation/pass.ts';
import { Ledger } from '../../src/ledger/ledger.ts';
import { Notifications } from '../../src/postgres/notifications.ts';
import { readPartsOf } from '../../src/postgres/partitions.ts';
import { startWorkers } from '../../workers/main.ts';
import { TEST_NOW } from '../support/clock.ts';
import { until } from '../support/patience.ts';
import { prepareChunk } from '../support/prepare.ts';
import { openTestStores, uniqueRepository } from '../support/stores.ts';
import { runOf } from '../support/verdicts.ts';

test('a block that one process stores is evaluated by another, which does not look without being woken', async () => {
  const stores = await openTestStores();
  const { db, pool } = stores.postgres;
  // Rests of other test files would have the worker look again and again.
  while ((await evaluatePartition({ db, log: stores.log }, 0)) !== undefined);
  const notify = (channel: string) => pool.query('select pg_notify($1, $2)', [channel, '']);
  const notifications = new Notifications({ url: stores.databaseUrl, notify, onError: () => {} });
  const other = startWorkers({ ...stores, notifications }, { evaluationPauseMs: 0, evaluationEveryMs: DAY_MS });
  try {
    await notifications.connect();
    await until(() => notifications.isConnected);
    for (const { loop } of other.evaluators) await loop.idle();
    const repository = uniqueRepository();
    const recorded = await stores.repositories.record(repository);
    const { id, defaultBranch } = await stores.repositories.learnDefaultBranch(recorded, 'main', 'payload');
    const job = runOf({ repository, runId: '1', at: TEST_NOW, results: { test: 'passed' }, receivedAt: TEST_NOW });
    const options = { repositoryId: id, defaultBranch, now: TEST_NOW, retentionDays: 90 };
    await new Ledger({ db, clickhouse: stores.clickhouse, clock: stores.clock }).write([prepareChunk(job, options)]);
    await until(
      () => readPartsOf(db, id),
      (parts) => parts.length === 0,
    );
  } finally {
    await other.stop();
    await notifications.close();
  }
});
