/** Puts a dump in the place of what the stores hold. */
import { access, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { drizzle } from 'drizzle-orm/node-postgres';
import type pg from 'pg';
import { z } from 'zod';
import { version } from '../../package.json' with { type: 'json' };
import type { Deps } from '../deps.ts';
import { jsonOf } from '../domain/json.ts';
import { UserError } from '../errors.ts';
import { readPacked } from '../packed-file.ts';
import { renumber } from '../postgres/installation.ts';
import { MANIFEST_FILE, type Manifest, manifestSchema } from './manifest.ts';
import { refuseLoss } from './moment.ts';
import { bringMonths, type Progress } from './months.ts';
import { PostgresReader, replaceRows } from './postgres-rows.ts';
import { monthsOf } from './stores.ts';

const idRows = z.array(z.object({ id: z.uuid() }));

/**
 * Months first, then PostgreSQL in one transaction, so a restore that ends halfway is never taken for a whole one, and
 * continues when it is run again. Keys that are revoked in what is replaced stay revoked, and all sessions end.
 *
 * @param options `isReplacing`: what the stores hold may be lost
 */
export async function restoreStores(
  deps: Deps,
  folder: string,
  { isReplacing, progress }: { isReplacing: boolean; progress: Progress },
): Promise<Manifest> {
  const path = resolve(folder);
  const manifest = await readManifest(path);
  await refuseIncomplete(path, manifest);
  await refuseOther(deps.databaseUrl, manifest);
  if (!isReplacing) await refuseLoss(deps, { installation: manifest.installation, newestBlock: manifest.newest_block });
  await restoreMonths(deps, path, manifest, progress);
  const { rows } = await deps.postgres.pool.query(
    'select id from ci_insights.application_keys where revoked_at is not null',
  );
  const revoked = idRows.parse(rows).map(({ id }) => id);
  const files = new Map(manifest.postgres.tables.map(({ table, file }) => [table, join(path, file)]));
  await replaceRows(
    deps.databaseUrl,
    manifest.postgres,
    ({ table }) => readPacked(files.get(table) ?? ''),
    (client) => bringToNow(client, revoked),
  );
  progress(`PostgreSQL: ${manifest.postgres.tables.length} tables`);
  return manifest;
}

async function readManifest(folder: string): Promise<Manifest> {
  const text = await readFile(join(folder, MANIFEST_FILE), 'utf8').catch((cause) => {
    throw new UserError(`${folder} is not a whole dump: ${MANIFEST_FILE}, which is written last, cannot be read.`, {
      cause,
    });
  });
  const parsed = manifestSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new UserError(`${join(folder, MANIFEST_FILE)} is not a dump of this service: ${z.prettifyError(parsed.error)}`);
}

/** Before anything is replaced. */
async function refuseIncomplete(folder: string, { postgres, clickhouse }: Manifest): Promise<void> {
  for (const { file } of [...postgres.tables, ...clickhouse])
    await access(join(folder, file)).catch((cause) => {
      throw new UserError(`${folder} is not a whole dump: ${file} cannot be read. Nothing was changed.`, { cause });
    });
}

/** Rows fit tables with the same columns only. */
async function refuseOther(url: string, { postgres, version: written }: Manifest): Promise<void> {
  const reader = await PostgresReader.open(url);
  try {
    const dumped = postgres.tables.map(({ table, columns }) => ({ table, columns }));
    if (isDeepStrictEqual(dumped, reader.tables)) return;
    throw new UserError(
      `The dump was written by version ${written}, whose tables differ from those of ${version}. Restore it with that version, then upgrade.`,
    );
  } finally {
    await reader.close();
  }
}

async function restoreMonths(deps: Deps, folder: string, manifest: Manifest, progress: Progress): Promise<void> {
  const months = monthsOf(deps);
  const files = new Map(manifest.clickhouse.map(({ table, month, file }) => [`${table} ${month}`, file]));
  try {
    const fileOf = async ({ table, month }: { table: string; month: string }) => ({
      path: join(folder, files.get(`${table} ${month}`) ?? ''),
      release: async () => {},
    });
    await bringMonths(months, manifest.clickhouse, fileOf, progress);
  } finally {
    await months.close();
  }
}

/** Numbers and access that were given since the dump do not come back with another meaning. */
async function bringToNow(client: pg.Client, revoked: readonly string[]): Promise<void> {
  await renumber(drizzle(client, { casing: 'snake_case' }));
  await client.query(
    'update ci_insights.application_keys set revoked_at = now() where id = any($1::uuid[]) and revoked_at is null',
    [revoked],
  );
  await client.query('update ci_insights.sessions set ended_at = now() where ended_at is null');
}
