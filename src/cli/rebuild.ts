/** `ci-insights rebuild`: recomputes every derived table from the executions. */
import { Command } from 'commander';
import { count, print } from '../client/output.ts';
import { operatorOf } from './operator.ts';
import { withStores } from './stores.ts';

export const rebuildCommand = (): Command =>
  new Command('rebuild')
    .description('recompute all derived tables, after a default branch or a rule has changed')
    .action(async () => {
      const { rebuild } = await import('../maintenance/rebuild.ts');
      const { recordAudit } = await import('../postgres/audit.ts');
      const { moved, tests, regrouped } = await withStores(async (deps) => {
        // It is many transactions, and one that is interrupted has changed something, too.
        await recordAudit(deps.postgres.db, operatorOf('rebuild'), { action: 'derived.rebuild' }, deps.clock.now());
        return rebuild(deps);
      });
      print(
        `${count(tests, 'test')} judged; ${count(moved, 'execution')} moved on or off the default branch; ${count(regrouped, 'failure message')} regrouped.`,
      );
    });
