/** `ci-insights worker`: runs workers only, as with ROLE=worker. */
import { Command } from 'commander';
import { readConfigAs } from '../config.ts';
import { runService } from './service.ts';

export const workerCommand = (): Command =>
  new Command('worker')
    .description('run workers only; needs DATABASE_URL and CLICKHOUSE_URL')
    .action(() => runService(() => readConfigAs('worker')));
