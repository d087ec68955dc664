/** A second app on the same stores that shares no memory with the first, as another process would. */
import { buildApp } from '../../src/app.ts';
import type { Deps } from '../../src/deps.ts';
import { Notifications } from '../../src/postgres/notifications.ts';
import { QuarantineStore } from '../../src/postgres/quarantines.ts';

export async function openReplicaOf(deps: Deps) {
  const notify = (channel: string) => deps.postgres.pool.query('select pg_notify($1, $2)', [channel, '']);
  const notifications = new Notifications({ url: deps.databaseUrl, notify, onError: () => {} });
  const quarantines = new QuarantineStore(deps.postgres.db, deps.clock);
  const app = buildApp({ ...deps, publicUrl: undefined, notifications, quarantines });
  await notifications.connect();
  return { app, close: () => notifications.close() };
}
