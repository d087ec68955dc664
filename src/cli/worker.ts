/** `ci-insights worker`: runs workers only, as with ROLE=worker. */
import { Command } from 'commander';
import { readConfigAs } from '../config.ts';

export const workerCommand = (): Command =>
  new Command('worker').description('run workers only; needs DATABASE_URL and CLICKHOUSE_URL').action(async () => {
    const config = readConfigAs('worker');
    const { serve } = await import('../main.ts');
    await serve(config);
  });
