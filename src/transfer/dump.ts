/** Writes everything that the stores hold to a folder of files. */
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { version } from '../../package.json' with { type: 'json' };
import type { Deps } from '../deps.ts';
import { grouped } from '../domain/grouped-number.ts';
import { UserError } from '../errors.ts';
import { writePacked } from '../packed-file.ts';
import { MANIFEST_FILE, type Manifest } from './manifest.ts';
import { finishedMoment } from './moment.ts';
import { expectedMonths, nameOf, type Progress } from './months.ts';
import { PostgresReader } from './postgres-rows.ts';
import { monthsOf } from './stores.ts';

/** Throws a {@link UserError} if something is not stored yet, or the folder has files. */
export async function dumpStores(deps: Deps, folder: string, progress: Progress): Promise<Manifest> {
  const path = resolve(folder);
  const { installation, newestBlock } = await finishedMoment(deps);
  // It has the names of people and tests.
  await mkdir(path, { recursive: true, mode: 0o700 });
  if ((await readdir(path)).length > 0) throw new UserError(`${folder} is not empty. Name a new folder.`);
  const manifest: Manifest = {
    format: 1,
    version,
    made_at: new Date(deps.clock.now()).toISOString(),
    installation,
    newest_block: newestBlock,
    postgres: await dumpRows(deps.databaseUrl, path, progress),
    clickhouse: await dumpMonths(deps, path, progress),
  };
  await writeFile(join(path, MANIFEST_FILE), `${JSON.stringify(manifest, null, 2)}\n`, { flag: 'wx', mode: 0o600 });
  return manifest;
}

async function dumpRows(url: string, folder: string, progress: Progress): Promise<Manifest['postgres']> {
  const reader = await PostgresReader.open(url);
  try {
    const tables: Manifest['postgres']['tables'] = [];
    for (const table of reader.tables) {
      const file = `postgres-${table.table}.copy.zst`;
      await writePacked(reader.rowsOf(table), join(folder, file));
      tables.push({ ...table, rows: await reader.count(table), file });
    }
    progress(`PostgreSQL: ${tables.length} tables`);
    return { tables, sequences: { ...reader.sequences } };
  } finally {
    await reader.close();
  }
}

async function dumpMonths(deps: Deps, folder: string, progress: Progress): Promise<Manifest['clickhouse']> {
  const months = monthsOf(deps);
  try {
    const written: Manifest['clickhouse'] = [];
    for (const month of await expectedMonths(months)) {
      const file = `clickhouse-${month.table}-${month.month}.native.zst`;
      await months.write(month, join(folder, file));
      // The embedded engine writes the file itself, readable by everyone.
      await chmod(join(folder, file), 0o600);
      progress(`${nameOf(month)}: ${grouped(month.contents.rows)} rows`);
      written.push({ ...month, file });
    }
    return written;
  } finally {
    await months.close();
  }
}
