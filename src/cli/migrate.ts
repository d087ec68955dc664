/** `ci-insights migrate`: brings all stores to the newest version. Serving does so too; this is for doing it before. */
import { Command } from 'commander';
import { print } from './output.ts';
import { withStores } from './stores.ts';

export const migrateCommand = (): Command =>
  new Command('migrate')
    .description('bring PostgreSQL, the queue and ClickHouse to the newest version; safe to repeat')
    .action(async () => {
      await withStores(async () => {});
      print('All stores are at the newest version.');
    });
