/** `ci-insights rebuild`: recomputes everything derived from the executions. */
import { Command } from 'commander';
import { count, print } from './output.ts';
import { withStores } from './stores.ts';

export const rebuildCommand = (): Command =>
  new Command('rebuild')
    .description('recompute everything derived from the executions, after a default branch or a rule has changed')
    .action(async () => {
      const { rebuild } = await import('../maintenance/rebuild.ts');
      const { moved, tests, regrouped } = await withStores(rebuild);
      print(
        `${count(tests, 'test')} judged anew; ${count(moved, 'execution')} changed sides between default branch and not; ${count(regrouped, 'text')} of failures changed groups.`,
      );
    });
