/**
 * The embedded PostgreSQL is set up once for all batches of a run, and each data folder begins with a copy: to set one up
 * takes a second or two of a processor. `scripts/test.ts` names the template in TEST_TEMPLATE; without it, nothing is copied.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';

/** Sets it up in a folder. */
export async function makeTemplate(folder: string): Promise<void> {
  await (await startEmbeddedPostgres(folder)).stop();
}

/** Copies it into a data folder that is there and has no PostgreSQL yet. */
export function beginWithTemplate(dataDir: string): void {
  const template = process.env.TEST_TEMPLATE;
  if (!template || !existsSync(dataDir) || existsSync(join(dataDir, 'postgres'))) return;
  const parts = ['postgres', 'postgres.password'].map((part) => join(template, part));
  // With its owner: the server runs as another user. The password comes last, as it does when PostgreSQL is set up.
  const { exitCode, stderr } = Bun.spawnSync(['cp', '-a', ...parts, dataDir]);
  if (exitCode !== 0) throw new Error(`the template could not be copied: ${stderr}`);
}
