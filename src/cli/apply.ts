/**
 * `ci-insights apply`: makes the keys and repositories that a file names, and changes what differs. It needs PostgreSQL
 * only: it works before the first start, and beside a running service.
 */
import { Command } from 'commander';
import { sql } from 'drizzle-orm';
import { count, print } from '../client/output.ts';
import { readClientEnvironment } from '../client/settings.ts';
import type { PostgresDeps } from '../deps.ts';
import { planOf } from '../domain/apply-plan.ts';
import { UserError } from '../errors.ts';
import { onPostgres } from '../postgres/client.ts';
import { APPLY_LOCK } from '../postgres/locks.ts';
import { DEFAULT_SETTINGS } from '../postgres/repositories.ts';
import { existingIn, makeChange } from './apply-changes.ts';
import { withPostgres } from './stores.ts';

/** There is a difference, and `--check` was given. */
const EXIT_DIFFERS = 3;

interface ApplyOptions {
  dryRun?: boolean;
  check?: boolean;
  prune?: boolean;
}

export const applyCommand = (): Command =>
  new Command('apply')
    .description('make the keys, repositories and settings that a file names; safe to repeat')
    .argument('<file>', 'YAML as docs/apply.md describes it; - is the standard input')
    .option('--dry-run', 'only print the difference')
    .option('--check', `the same, and exit with ${EXIT_DIFFERS} if there is one`)
    .option('--prune', 'also revoke keys of earlier files, and reset settings, that the file does not name')
    .action(async (file: string, options: ApplyOptions) => {
      // Loaded when needed: no other command reads YAML.
      const { folderOf, readApplyFile, tokenHashIn } = await import('./apply-file.ts');
      const declared = readApplyFile(file);
      const { variables } = readClientEnvironment();
      const keys = declared.keys?.map(({ name, rights, token }) => ({
        ...{ name, rights },
        tokenHash: tokenHashIn(name, token, folderOf(file), variables),
      }));
      const isDry = options.dryRun === true || options.check === true;
      await withPostgres(async (deps) => {
        const work = async () => {
          const defaults = options.prune ? DEFAULT_SETTINGS : undefined;
          const plan = planOf({ ...declared, keys }, await existingIn(deps), { now: deps.clock.now(), defaults });
          if (plan.refusals.length > 0) throw new UserError([...plan.refusals, 'Nothing was changed.'].join('\n'));
          for (const line of plan.left) print(line);
          for (const change of plan.changes) {
            const note = isDry ? undefined : await makeChange(deps, change);
            print(change.line);
            if (note !== undefined) print(note);
          }
          const { length } = plan.changes;
          if (length === 0) return print('There is no difference.');
          if (options.check) process.exitCode = EXIT_DIFFERS;
          print(isDry ? `${count(length, 'difference')}. Nothing was changed.` : `${count(length, 'change')} made.`);
        };
        await (isDry ? work() : alone(deps, work));
      });
    });

/** While another process applies a file, what it finds would not be what it changes. */
async function alone({ postgres }: PostgresDeps, work: () => Promise<void>): Promise<void> {
  await onPostgres(() =>
    postgres.db.transaction(async (tx) => {
      const { rows } = await tx.execute<{ locked: boolean }>(
        sql`select pg_try_advisory_xact_lock(${APPLY_LOCK}) as locked`,
      );
      if (!rows[0]?.locked) throw new UserError('Another process applies a file. Try again when it has ended.');
      await work();
    }),
  );
}
