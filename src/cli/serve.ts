/** `ci-insights serve`: runs the service in this process until it is stopped. */
import { Command } from 'commander';
import { readConfig } from '../config.ts';

export const serveCommand = (): Command =>
  new Command('serve')
    .description('run the service: API and workers, or as ROLE says; stop it with SIGTERM or Ctrl-C')
    .action(async () => {
      const config = readConfig();
      const { serve } = await import('../main.ts');
      await serve(config);
    });
