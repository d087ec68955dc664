/** `ci-insights copy`, `dump` and `restore`: move everything that is stored. */
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { Command } from 'commander';
import { count, print, printError } from '../client/output.ts';
import { type Config, readConfig } from '../config.ts';
import type { Deps } from '../deps.ts';
import { grouped } from '../domain/grouped-number.ts';
import { UserError } from '../errors.ts';
import { operatorOf } from './operator.ts';
import { withStores } from './stores.ts';

interface Replacing {
  replace?: boolean;
}

const REPLACE = ['--replace', 'lose what the stores to write to hold'] as const;

export const copyCommand = (): Command =>
  new Command('copy')
    .description('copy everything to the stores of another installation, such as from a trial to your own servers')
    .requiredOption(
      '--to <file>',
      'settings of the other one, as lines NAME=value: at least DATABASE_URL and CLICKHOUSE_URL',
    )
    .option(...REPLACE)
    .action(async ({ to, replace = false }: Replacing & { to: string }) => {
      const target = targetOf(to);
      const { copyStores } = await import('../transfer/copy.ts');
      await withStores((source) =>
        withStores(async (other) => {
          await note(source, 'copy', 'stores.copy');
          await copyStores(source, other, { isReplacing: replace, progress: printError });
          await verifyBoth(source, other);
        }, target),
      );
    });

export const dumpCommand = (): Command =>
  new Command('dump')
    .description('write everything to a folder, which `restore` reads into stores of any kind')
    .argument('<folder>', 'a new one')
    .action(async (folder: string) => {
      const { dumpStores } = await import('../transfer/dump.ts');
      const manifest = await withStores(async (deps) => {
        await note(deps, 'dump', 'stores.dump');
        return dumpStores(deps, folder, printError);
      });
      print(`${folder} has everything: ${executionsOf(manifest.clickhouse)}.`);
    });

export const restoreCommand = (): Command =>
  new Command('restore')
    .description('put a dump in the place of what the stores hold')
    .argument('<folder>', 'what `dump` has written')
    .option(...REPLACE)
    .action(async (folder: string, { replace = false }: Replacing) => {
      const { restoreStores } = await import('../transfer/restore.ts');
      await withStores(async (deps) => {
        const manifest = await restoreStores(deps, folder, { isReplacing: replace, progress: printError });
        await note(deps, 'restore', 'stores.restore');
        print(`Everything of ${manifest.made_at} is back: ${executionsOf(manifest.clickhouse)}.`);
        await verified(deps, 'The stores');
      });
    });

function targetOf(file: string): Config {
  const config = readConfig(parseEnv(readText(file)));
  if (config.databaseUrl && config.clickhouseUrl) return config;
  throw new UserError(`${file} must set DATABASE_URL and CLICKHOUSE_URL: embedded stores belong to one service.`);
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (cause) {
    throw new UserError(`${file} cannot be read.`, { cause });
  }
}

async function note(deps: Deps, command: string, action: 'stores.copy' | 'stores.dump' | 'stores.restore') {
  const { recordAudit } = await import('../postgres/audit.ts');
  await recordAudit(deps.postgres.db, operatorOf(command), { action }, deps.clock.now());
}

async function verifyBoth(source: Deps, target: Deps): Promise<void> {
  await verified(source, 'The stores copied from');
  await verified(target, 'The stores copied to');
}

async function verified(deps: Deps, which: string): Promise<void> {
  const { verify } = await import('../maintenance/verify.ts');
  const { isConsistent, executions, checks } = await verify(deps);
  const differences = checks.reduce((sum, check) => sum + check.count, 0);
  if (!isConsistent) process.exitCode = 1;
  print(
    isConsistent
      ? `${which} agree with ${count(executions, 'execution')}.`
      : `${which} have ${count(differences, 'difference')}. \`ci-insights verify\` lists them.`,
  );
}

const executionsOf = (months: readonly { table: string; contents: { rows: number } }[]): string =>
  `${grouped(months.reduce((sum, { table, contents }) => sum + (table === 'executions' ? contents.rows : 0), 0))} executions`;
