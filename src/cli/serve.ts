/** `ci-insights serve`: the service, in this process, until it is told to stop. */
import { Command } from 'commander';
import { readConfig } from '../config.ts';

export const serveCommand = (): Command =>
  new Command('serve')
    .description('start the service: API and workers, or what ROLE says; stop it with SIGTERM or Ctrl-C')
    .action(async () => {
      const config = readConfig();
      const { serve } = await import('../main.ts');
      await serve(config);
    });
