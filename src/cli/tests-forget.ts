/** `ci-insights tests forget`: forgets tests that will never run again. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { z } from 'zod';
import { count, print, printJson } from '../client/output.ts';
import { collectText, parsePath, parseSince } from '../client/parse.ts';
import type { Deps } from '../deps.ts';
import type { RowCounts } from '../domain/deletion.ts';
import { inLog } from '../domain/foreign-text.ts';
import { FORGOTTEN_SHOWN_MAX, nothingToForget } from '../domain/forgetting.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { UserError } from '../errors.ts';
import { confirm } from './confirm.ts';
import { operatorOf } from './operator.ts';
import { rowTable } from './row-table.ts';
import { ask, type RunningService, serviceWithEngine } from './running.ts';
import { withPostgres, withStores } from './stores.ts';

interface ForgetOptions {
  test?: string[];
  notRunSince?: Date;
  dryRun?: boolean;
  yes?: boolean;
  json?: boolean;
}

const POLL_MS = 500;

export const forgetTestsCommand = (): Command =>
  new Command('forget')
    .description('remove everything that is stored of some tests; nothing brings it back')
    .argument('<owner/name>', 'the repository', parsePath)
    .option('--test <name>', 'a test, by its name; repeatable', collectText)
    .option('--not-run-since <time>', 'tests that have not run since: 180d, or a date', (value) => parseSince(value))
    .option('--dry-run', 'only say what would go')
    .option('--yes', 'do not ask for the name of the repository')
    .option('--json', 'print JSON')
    .action(async (path: RepositoryName, options: ForgetOptions) => {
      const wanted = await wantedOf(path, options);
      if (!options.dryRun && !options.yes)
        await confirm(path, {
          ...{ verb: 'forget', what: 'what is stored of forgotten tests', otherwise: 'Nothing was forgotten.' },
        });
      const service = serviceWithEngine();
      const outcome = service
        ? await askService(service, path, wanted, options.dryRun ?? false)
        : await openStores(path, wanted, options.dryRun ?? false);
      if (options.json) return printJson({ is_dry_run: options.dryRun ?? false, ...outcome });
      describe(outcome, options.dryRun ?? false);
    });

/** In the form that the API takes. */
interface Wanted {
  test_ids?: string[];
  not_run_since?: string;
}

async function wantedOf({ owner, name }: RepositoryName, { test, notRunSince }: ForgetOptions): Promise<Wanted> {
  if ((test === undefined) === (notRunSince === undefined))
    throw new UserError('Pass either --test, once or several times, or --not-run-since.');
  if (notRunSince) return { not_run_since: notRunSince.toISOString() };
  return withPostgres(async ({ postgres, repositories }) => {
    const { testIdNamed } = await import('../postgres/test-names.ts');
    const found = await repositories.find(owner, name);
    if (!found) throw nothingThere({ owner, name });
    return { test_ids: await Promise.all((test ?? []).map((one) => testIdNamed(postgres.db, found.id, one))) };
  });
}

interface Outcome {
  count: number;
  quarantined: { count: number; tests: { test_name: string }[] };
  is_more: boolean;
  rows: RowCounts;
}

const kept = z.object({ count: z.number(), tests: z.array(z.object({ test_id: z.string(), test_name: z.string() })) });
const selection = { count: z.number(), quarantined: kept, is_more: z.boolean() };
const preview = z.object({ ...selection, rows: z.record(z.string(), z.number()) });
const begun = z.object({ ...selection, id: z.string() });
const receipts = z.object({
  forgettings: z.array(
    z.object({ id: z.string(), finished_at: z.string().nullable(), removed: z.record(z.string(), z.number()) }),
  ),
});

/** Returns once the worker of the service has removed all rows. */
async function askService(
  service: RunningService,
  { owner, name }: RepositoryName,
  wanted: Wanted,
  isDryRun: boolean,
): Promise<Outcome> {
  const address = `/v1/ci/${owner}/repositories/${name}`;
  if (isDryRun) return ask(service, preview, `${address}/tests/forget?dry_run=true`, 'POST', wanted);
  const { id, ...selected } = await ask(service, begun, `${address}/tests/forget`, 'POST', wanted);
  for (;;) {
    const { forgettings } = await ask(service, receipts, `${address}/forgotten-tests`);
    const receipt = forgettings.find((one) => one.id === id);
    if (receipt?.finished_at) return { ...selected, rows: receipt.removed };
    await sleep(POLL_MS);
  }
}

const openStores = (path: RepositoryName, wanted: Wanted, isDryRun: boolean): Promise<Outcome> =>
  withStores(async (deps) => {
    const { postgres, clickhouse, repositories, clock } = deps;
    const { db } = postgres;
    const { countTests, findTests } = await import('../maintenance/forget-tests.ts');
    const { beginForgettingTests } = await import('../postgres/forgotten-tests.ts');
    const found = await repositories.find(path.owner, path.name);
    if (!found) throw nothingThere(path);
    const { tests, quarantined, isMore } = await findTests({ db, clickhouse }, found.id, {
      testIds: wanted.test_ids,
      notRunSince: wanted.not_run_since,
    });
    const shown = quarantined.slice(0, FORGOTTEN_SHOWN_MAX);
    const selected = {
      count: tests.length,
      quarantined: {
        count: quarantined.length,
        tests: shown.map(({ testId, name }) => ({ test_id: testId, test_name: name })),
      },
      is_more: isMore,
    };
    const testIds = tests.map(({ testId }) => testId);
    if (isDryRun) return { ...selected, rows: await countTests({ db, clickhouse }, found.id, testIds) };
    if (tests.length === 0) throw new UserError(nothingToForget(quarantined.length));
    const { id } = await db.transaction((tx) =>
      beginForgettingTests(tx, found, tests, operatorOf('tests forget'), clock.now()),
    );
    return { ...selected, rows: await untilForgotten(deps, id) };
  });

/** Rows removed, once all are. */
async function untilForgotten(deps: Deps, id: string): Promise<RowCounts> {
  const { forgetTests } = await import('../maintenance/forget-tests.ts');
  const { findForgetting } = await import('../postgres/forgotten-tests.ts');
  for (;;) {
    await forgetTests(deps);
    const receipt = await findForgetting(deps.postgres.db, id);
    if (!receipt || receipt.finishedAt) return receipt?.removed ?? {};
    await sleep(POLL_MS);
  }
}

function describe({ count: many, quarantined, is_more, rows }: Outcome, isDryRun: boolean): void {
  if (Object.keys(rows).length > 0) print(rowTable(rows));
  const total = Object.values(rows).reduce((sum, one) => sum + one, 0);
  const tests = count(many, 'test');
  print(
    isDryRun
      ? `${tests} would be forgotten, and ${count(total, 'row')} removed. Nothing was changed.`
      : `${tests} ${many === 1 ? 'is' : 'are'} forgotten: ${count(total, 'row')} were removed.`,
  );
  if (quarantined.count > 0) {
    print(`${count(quarantined.count, 'test')} stay, because they are quarantined. End the quarantine first:`);
    for (const { test_name: name } of quarantined.tests) print(`  ${inLog(name)}`);
  }
  if (is_more) print('More tests match. Run the command again for the others.');
}

const nothingThere = ({ owner, name }: RepositoryName): UserError =>
  new UserError(`There is no repository ${owner}/${name}. Nothing was forgotten.`);
