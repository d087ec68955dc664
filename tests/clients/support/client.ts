/** The client for CI jobs as jobs get it: downloaded from the service, and run on Node and on Bun. */
import { chmodSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { atEnd } from '../../support/at-end.ts';
import { makeFolder } from '../../support/folder.ts';
import { machine, type Ran, run } from './run.ts';
import { sharedService } from './service.ts';

/** Runtimes of the file: any Node from 20 on, and the Bun of this project. */
export const RUNTIMES = ['node', 'bun'] as const;
export type Runtime = (typeof RUNTIMES)[number];

export const commandOf = (runtime: Runtime): string => (runtime === 'node' ? 'node' : process.execPath);

let downloaded: Promise<string> | undefined;

/** The path of the file, downloaded once for all tests of a run. */
export function clientFile(): Promise<string> {
  downloaded ??= (async () => {
    const folder = makeFolder('client');
    atEnd(async () => rmSync(folder, { recursive: true, force: true }));
    const service = await sharedService();
    const response = await fetch(`${service.origin}/cli/ci-insights.mjs`);
    const file = join(folder, 'ci-insights.mjs');
    writeFileSync(file, await response.bytes());
    chmodSync(file, 0o755);
    return file;
  })();
  return downloaded;
}

/** Runs the downloaded client in a separate environment. */
export async function runClient(
  runtime: Runtime,
  args: readonly string[],
  { cwd, env = {}, input }: { cwd?: string; env?: Record<string, string | undefined>; input?: string } = {},
): Promise<Ran> {
  const command = [commandOf(runtime), await clientFile(), ...args];
  const given = { ...(cwd !== undefined && { cwd }), ...(input !== undefined && { input }) };
  return run(command, { ...given, env: { ...machine(), ...env } });
}
