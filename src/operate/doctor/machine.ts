/** Checks this machine: the runtime, the data folder, its disk. */
import { accessSync, constants, existsSync, statSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { dirname } from 'node:path';
import { adminKeyFile } from '../../access/admin-key.ts';
import type { Config } from '../../config.ts';
import { type Finding, ok, problem, reasonOf, warning } from './finding.ts';
import { diskFinding, versionFinding } from './rules.ts';

export const checkRuntime = (): Finding => versionFinding('Bun', Bun.version);

/** Only for embedded stores: without them the folder is not used. */
export async function checkDataFolder({ dataDir }: Config): Promise<Finding[]> {
  const folder = existing(dataDir);
  try {
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    const remedy = 'Give the user who runs the service access to it, or set another DATA_DIR.';
    return [problem('Data folder', `${folder} is not writable: ${reasonOf(error)}.`, remedy)];
  }
  const { bavail, bsize } = await statfs(folder);
  return [ok('Data folder', dataDir), diskFinding('Data folder', Number(bavail) * Number(bsize)), ...keyFile(dataDir)];
}

/** The folder, or the nearest existing one above it: the first start creates the rest. */
export function existing(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : existing(dirname(path));
}

function keyFile(dataDir: string): Finding[] {
  const file = adminKeyFile(dataDir);
  if (!existsSync(file) || (statSync(file).mode & 0o077) === 0) return [];
  return [warning('Admin key', `Other users can read ${file}.`, `Run: chmod 600 ${file}`)];
}
