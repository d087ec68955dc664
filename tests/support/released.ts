/** The last released version, from the history of this repository, to run beside this one. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './service-process.ts';

/** Version 0.1.0. */
const RELEASED = '779ecee';

/** Whether the history is here; a shallow clone may not have it. */
export const hasReleased =
  Bun.spawnSync(['git', 'cat-file', '-e', `${RELEASED}^{commit}`], { cwd: ROOT }).exitCode === 0;
if (!hasReleased)
  console.error(`skipped: two versions side by side, because the history here does not reach ${RELEASED}`);

/** Puts its files into a folder, with its own dependencies from the registry, and returns the folder. */
export function installReleased(parent: string): string {
  const tree = join(parent, 'released');
  mkdirSync(tree);
  const archive = execFileSync('git', ['archive', RELEASED], { cwd: ROOT, maxBuffer: 256 * 1024 * 1024 });
  execFileSync('tar', ['-x', '-C', tree], { input: archive });
  // This version no longer has all of them.
  execFileSync(process.execPath, ['install', '--frozen-lockfile', '--no-summary', '--no-progress'], {
    cwd: tree,
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  return tree;
}
