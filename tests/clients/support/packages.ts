/** Throw-away folders with packages from npm, installed by Bun and removed at the end of the run. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { atEnd } from '../../support/at-end.ts';
import { npmPackages, refuseClosed } from './licences.ts';
import { run } from './run.ts';

/**
 * A folder with these packages in its `node_modules`; undefined if they cannot be installed, with the reason printed. In CI
 * they must be.
 *
 * @example const folder = await packagesFolder({ 'openapi-fetch': '0.17.0' });
 */
export async function packagesFolder(dependencies: Record<string, string>): Promise<string | undefined> {
  const folder = mkdtempSync(join(tmpdir(), 'ci-insights-packages-'));
  atEnd(async () => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'clients', type: 'module', dependencies }));
  const install = await run([process.execPath, 'install', '--no-summary'], { cwd: folder, env: process.env });
  if (install.code === 0) {
    refuseClosed(npmPackages(folder));
    return folder;
  }
  const reason = install.printed.trim().split('\n').at(-1)?.slice(0, 300);
  if (process.env.CI === 'true') throw new Error(`in CI no client is skipped, but: ${install.printed}`);
  console.error(
    `skipped: tests with ${Object.keys(dependencies).join(', ')}, because they cannot be installed: ${reason}`,
  );
  return undefined;
}
