/** Where the data of a run are: in a folder that goes with the run, or in one that stays. */
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd, closeAll } from '../support/at-end.ts';
import { type DataOptions, sourceSchema } from './data.ts';

/** Whether there is something in the folder. */
export const isInUse = (folder: string): boolean => existsSync(folder) && readdirSync(folder).length > 0;

const noteOf = (folder: string): string => join(folder, 'bench.json');

/** Notes what a folder that stays is filled with, so that a later run can measure it without filling it again. */
export const noteFilled = (folder: string, source: DataOptions): void =>
  writeFileSync(noteOf(folder), JSON.stringify(source));

/** The data with which an earlier run has filled the folder; undefined if it is new. Throws if it has other things in it. */
export function filledWith(folder: string | undefined): DataOptions | undefined {
  if (folder === undefined || !isInUse(folder)) return undefined;
  if (!existsSync(noteOf(folder))) throw new Error('--folder takes a new folder, or one that --fill has filled');
  return sourceSchema.parse(JSON.parse(readFileSync(noteOf(folder), 'utf8')));
}

/** @param kept undefined: a new folder, which goes with the run */
export async function inFolder<T>(kept: string | undefined, act: (folder: string) => Promise<T>): Promise<T> {
  if (kept !== undefined) return act(kept);
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-bench-'));
  const remove = async (): Promise<void> => rmSync(folder, { recursive: true, force: true });
  atEnd(remove);
  try {
    return await act(folder);
  } finally {
    await remove();
  }
}

/** When the benchmark is interrupted, what it started ends, too. */
export function closeOnSignals(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, async () => {
      await closeAll();
      process.exit(1);
    });
}
