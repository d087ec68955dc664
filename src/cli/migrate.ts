/** `ci-insights migrate`: brings all stores to the newest version. `serve` does so too; this does it in advance. */
import { Command } from 'commander';
import { print } from '../client/output.ts';
import { withStores } from './stores.ts';

export const migrateCommand = (): Command =>
  new Command('migrate')
    .description('migrate PostgreSQL, the queue and ClickHouse to the newest version; safe to repeat')
    .action(async () => {
      await withStores(async () => {});
      print('All stores are up to date.');
    });
