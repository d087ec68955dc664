/** Copies everything from the stores of one installation to those of another, which then is the same one. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Months } from '../clickhouse/months.ts';
import type { Deps } from '../deps.ts';
import { finishedMoment, refuseLoss } from './moment.ts';
import { bringMonths, expectedMonths, type Progress } from './months.ts';
import { PostgresReader, replaceRows } from './postgres-rows.ts';
import { monthsOf } from './stores.ts';

/**
 * Months first, one at a time; then PostgreSQL in one transaction, so a copy that ends halfway is never taken for a whole one.
 * Run again, it continues with the months that differ. Throws a {@link UserError} if something is not stored yet, or would be
 * lost.
 *
 * @param options `isReplacing`: what the target holds may be lost
 */
export async function copyStores(
  source: Deps,
  target: Deps,
  { isReplacing, progress }: { isReplacing: boolean; progress: Progress },
): Promise<void> {
  const moment = await finishedMoment(source);
  if (!isReplacing) await refuseLoss(target, moment);
  const [from, to] = [monthsOf(source), monthsOf(target)];
  try {
    await copyMonths(from, to, progress);
    await copyRows(source.databaseUrl, target.databaseUrl, progress);
  } finally {
    await Promise.all([from.close(), to.close()]);
  }
}

async function copyMonths(from: Months, to: Months, progress: Progress): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'ci-insights-copy-'));
  try {
    await bringMonths(
      to,
      await expectedMonths(from),
      async (month) => {
        const path = join(folder, `${month.table}-${month.month}`);
        await from.write(month, path);
        return { path, release: () => rm(path, { force: true }) };
      },
      progress,
    );
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function copyRows(from: string, to: string, progress: Progress): Promise<void> {
  const reader = await PostgresReader.open(from);
  try {
    await replaceRows(to, reader, (table) => reader.rowsOf(table));
    progress(`PostgreSQL: ${reader.tables.length} tables`);
  } finally {
    await reader.close();
  }
}
