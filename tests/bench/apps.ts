/** Apps on the stores of a benchmark. */
import { KeyCredentials } from '../../src/access/credential.ts';
import { buildApp } from '../../src/app.ts';
import type { Deps } from '../../src/deps.ts';
import { coreFeatures, docs } from '../../src/features.ts';
import { Notifications } from '../../src/postgres/notifications.ts';
import { QuarantineStore } from '../../src/postgres/quarantines.ts';

/** The app as the service builds it, with keys as the only credentials. */
export const openAppOf = (deps: Deps) =>
  buildApp({
    clock: deps.clock,
    log: deps.log,
    publicUrl: undefined,
    credentials: [new KeyCredentials(deps.keys)],
    features: [...coreFeatures(deps), docs],
  });

/** A second app on the same stores that shares no memory with the first, as another process would. */
export async function openReplicaOf(deps: Deps) {
  const notify = (channel: string) => deps.postgres.pool.query('select pg_notify($1, $2)', [channel, '']);
  const notifications = new Notifications({ url: deps.databaseUrl, notify, onError: () => {} });
  const quarantines = new QuarantineStore(deps.postgres.db, deps.clock);
  const app = openAppOf({ ...deps, notifications, quarantines });
  await notifications.connect();
  return { app, close: () => notifications.close() };
}
