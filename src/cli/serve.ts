/** `ci-insights serve`: runs the service in this process until it is stopped. */
import { Command } from 'commander';
import { readConfig } from '../config.ts';
import { runService } from './service.ts';

export const serveCommand = (): Command =>
  new Command('serve')
    .description('run the service: API and workers, or as ROLE says; stop it with SIGTERM or Ctrl-C')
    .action(() => runService(readConfig));
