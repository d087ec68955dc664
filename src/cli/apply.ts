/**
 * `ci-insights apply`: makes the keys and repositories that a file names, and changes what differs. It needs PostgreSQL
 * only: it works before the first start, and beside a running service.
 */
import { Command } from 'commander';
import { sql } from 'drizzle-orm';
import { count, print, printJson } from '../client/output.ts';
import { readClientEnvironment } from '../client/settings.ts';
import type { PostgresDeps } from '../deps.ts';
import { type Plan, planOf } from '../domain/apply-plan.ts';
import { type ApplyResult, linesOf, reportOf } from '../domain/apply-report.ts';
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
  json?: boolean;
}

const REBUILD_NOTE =
  '    Stored executions follow the old setting until you run `ci-insights rebuild`. New uploads follow the new one.';

export const applyCommand = (): Command =>
  new Command('apply')
    .description('make the keys, repositories and settings that a file names; safe to repeat')
    .argument('<file>', 'YAML as docs/apply.md describes it; - is the standard input')
    .option('--dry-run', 'only print the difference')
    .option('--check', `the same, and exit with ${EXIT_DIFFERS} if there is one`)
    .option('--prune', 'also revoke keys of earlier files, and reset settings, that the file does not name')
    .option('--json', 'print the difference and the result as JSON')
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
          await carryOut(deps, plan, { isDry, isJson: options.json === true });
          if (options.check && plan.changes.length > 0) process.exitCode = EXIT_DIFFERS;
        };
        await (isDry ? work() : alone(deps, work));
      });
    });

/** Prints each change once it is made, or with `isJson` all of them at the end, whatever that is. */
async function carryOut(
  deps: PostgresDeps,
  plan: Plan,
  { isDry, isJson }: { isDry: boolean; isJson: boolean },
): Promise<void> {
  let made = 0;
  const say = (text: string): void => {
    if (!isJson) print(text);
  };
  const end = (result: ApplyResult, inWords: string): void => {
    if (isJson) printJson(reportOf(plan, result, made));
    else if (inWords !== '') print(inWords);
  };
  if (plan.refusals.length > 0) {
    end('refused', '');
    throw new UserError([...plan.refusals, 'Nothing was changed.'].join('\n'));
  }
  for (const { id, name } of plan.left) say(`  key ${name} (${id}): not in the file, stays`);
  try {
    for (const change of plan.changes) {
      if (!isDry) {
        await makeChange(deps, change);
        made++;
      }
      say(linesOf(change));
      if (!isDry && change.kind === 'change repository' && change.needsRebuild) say(REBUILD_NOTE);
    }
  } catch (error) {
    end('failed', '');
    throw error;
  }
  const { length } = plan.changes;
  if (length === 0) end('unchanged', 'There is no difference.');
  else if (isDry) end('differs', `${count(length, 'difference')}. Nothing was changed.`);
  else end('applied', `${count(length, 'change')} made.`);
}

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
