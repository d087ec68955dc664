/** `ci-insights repos delete`: removes a repository and everything that is stored of it. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { count, print, printJson } from '../client/output.ts';
import { parsePath } from '../client/parse.ts';
import type { PostgresDeps } from '../deps.ts';
import type { RowCounts } from '../domain/deletion.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import { confirm } from './confirm.ts';
import { operatorOf } from './operator.ts';
import { rowTable } from './row-table.ts';
import { ask, serviceWithEngine } from './running.ts';
import { withPostgres, withStores } from './stores.ts';

interface DeleteOptions {
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

const POLL_MS = 500;

export const deleteCommand = (): Command =>
  new Command('delete')
    .description('delete a repository with everything that is stored of it; nothing brings it back')
    .argument('<owner/name>', 'the repository', parsePath)
    .option('--dry-run', 'only say what would go')
    .option('--yes', 'do not ask for the name again')
    .option('--json', 'print JSON')
    .action(async (path: RepositoryName, options: DeleteOptions) => {
      if (!options.dryRun && !options.yes)
        await confirm(path, { verb: 'delete', what: 'a deleted repository', otherwise: 'Nothing was deleted.' });
      const removed = await (options.dryRun ? look(path) : remove(path));
      if (options.json) return printJson({ is_dry_run: options.dryRun ?? false, rows: removed });
      print(rowTable(removed));
      const rows = Object.values(removed).reduce((sum, one) => sum + one, 0);
      print(
        options.dryRun
          ? `${count(rows, 'row')} would be removed. Nothing was changed.`
          : `${path.owner}/${path.name} is deleted: ${count(rows, 'row')} were removed.`,
      );
    });

const preview = z.object({ rows: z.record(z.string(), z.number()) });

/** Counts the rows that would go. */
async function look(path: RepositoryName): Promise<RowCounts> {
  const service = serviceWithEngine();
  if (service) {
    const address = `/v1/ci/${path.owner}/repositories/${path.name}?dry_run=true`;
    return (await ask(service, preview, address, 'DELETE')).rows;
  }
  const { countRepository } = await import('../maintenance/delete-repository.ts');
  return withStores(async ({ repositories, postgres: { db }, clickhouse, clock }) => {
    const found = await repositories.find(path.owner, path.name);
    if (!found) throw nothingThere(path);
    return countRepository({ db, clickhouse, clock }, found);
  });
}

/** Deletes, and returns once all rows are removed: by the worker of a running service, or else here. */
async function remove(path: RepositoryName): Promise<RowCounts> {
  if (serviceWithEngine())
    return withPostgres(async (deps) => {
      const id = await begin(deps, path);
      for (;;) {
        const removed = await receiptOf(deps, path, id);
        if (removed) return removed;
        await sleep(POLL_MS);
      }
    });
  const { finishDeletions } = await import('../maintenance/delete-repository.ts');
  return withStores(async (deps) => {
    const id = await begin(deps, path);
    const { clickhouse, clock, log } = deps;
    for (;;) {
      await finishDeletions({ db: deps.postgres.db, clickhouse, clock, log });
      const removed = await receiptOf(deps, path, id);
      if (removed) return removed;
      await sleep(POLL_MS);
    }
  });
}

async function begin({ repositories }: PostgresDeps, path: RepositoryName): Promise<string> {
  const deletion = await repositories.delete(path, operatorOf('repos delete'));
  if (!deletion) throw nothingThere(path);
  return deletion.id;
}

/** Undefined until it is finished. */
async function receiptOf({ postgres }: PostgresDeps, path: RepositoryName, id: string): Promise<RowCounts | undefined> {
  const { deletionsAt } = await import('../postgres/deleted-repositories.ts');
  const found = (await deletionsAt(postgres.db, path)).find((one) => one.id === id);
  return found?.finishedAt ? found.removed : undefined;
}

const nothingThere = ({ owner, name }: RepositoryName): UserError =>
  new UserError(`There is no repository ${owner}/${name}. Nothing was deleted.`);
