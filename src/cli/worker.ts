/** `ci-insights worker`: workers only, beside an API elsewhere (ROLE=worker). */
import { Command } from 'commander';
import { readConfigAs } from '../config.ts';

export const workerCommand = (): Command =>
  new Command('worker').description('start workers only; needs DATABASE_URL and CLICKHOUSE_URL').action(async () => {
    const config = readConfigAs('worker');
    const { serve } = await import('../main.ts');
    await serve(config);
  });
