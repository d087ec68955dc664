/** `ci-insights reconcile`: makes both stores agree after they were restored from different moments. */
import { Command } from 'commander';
import { count, print } from '../client/output.ts';
import { UserError } from '../errors.ts';
import { operatorOf } from './operator.ts';
import { withStores } from './stores.ts';

export const reconcileCommand = (): Command =>
  new Command('reconcile')
    .description('make both stores agree after they were restored from different moments; nothing else may use them')
    .option('--dry-run', 'only say what would be given up')
    .option('--yes', 'give it up')
    .action(async ({ dryRun, yes }: { dryRun?: boolean; yes?: boolean }) => {
      if (!dryRun && !yes)
        throw new UserError('Add --yes to give up what only one store has, or --dry-run to look first.');
      const { previewReconciliation, reconcile } = await import('../maintenance/reconcile.ts');
      const { recordAudit } = await import('../postgres/audit.ts');
      await withStores(async (deps) => {
        if (dryRun) {
          const { removed, unclaimed, eventsRemoved, eventsLost } = await previewReconciliation(deps);
          return print(
            `${count(removed, 'execution')} and ${count(eventsRemoved, 'event')} in ClickHouse that PostgreSQL does not know would be removed, and ${count(unclaimed, 'execution')} and ${count(eventsLost, 'event')} that ClickHouse lacks would count as new when they are sent again. Nothing was changed.`,
          );
        }
        await recordAudit(deps.postgres.db, operatorOf('reconcile'), { action: 'stores.reconcile' }, deps.clock.now());
        const { removed, unclaimed, eventsRemoved, eventsLost } = await reconcile(deps);
        print(
          `Both stores agree: ${count(removed, 'execution')} and ${count(eventsRemoved, 'event')} removed from ClickHouse, ${count(unclaimed, 'execution')} and ${count(eventsLost, 'event')} count as new when they are sent again.`,
        );
      });
    });
