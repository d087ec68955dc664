/** A second app on the same PostgreSQL that shares no memory with the first, like another replica. */
import { Notifications } from '../../src/postgres/notifications.ts';
import { QuarantineStore } from '../../src/postgres/quarantines.ts';
import { RepositoryStore } from '../../src/postgres/repositories.ts';
import { openTestApp, type TestApp } from './http.ts';
import type { TestStores } from './stores.ts';

export interface Replica extends TestApp {
  notifications: Notifications;
  quarantines: QuarantineStore;
  close(): Promise<void>;
}

/** With its own notifications, connected unless it should be deaf. */
export async function openReplica(stores: TestStores, options: { isDeaf?: boolean } = {}): Promise<Replica> {
  const { databaseUrl, postgres, clock } = stores;
  const notify = (channel: string) => postgres.pool.query('select pg_notify($1, $2)', [channel, '']);
  const notifications = new Notifications({ url: databaseUrl, notify, onError: () => {} });
  const quarantines = new QuarantineStore(postgres.db, clock);
  const repositories = new RepositoryStore(postgres.db, clock);
  const app = await openTestApp({ notifications, quarantines, repositories });
  if (!options.isDeaf) await notifications.connect();
  return { ...app, notifications, quarantines, close: () => notifications.close() };
}
