/** The key that the first start with an embedded PostgreSQL makes, so that there is one to begin with. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { byService } from '../domain/audit.ts';
import { writeDurably } from '../durable-file.ts';
import type { ApplicationKey, KeyStore } from '../postgres/keys.ts';

export type FirstKey = Pick<ApplicationKey, 'id' | 'name'>;

export const adminKeyFile = (dataDir: string): string => join(dataDir, 'admin.key');

/** Makes an admin key for every owner unless the file has one. Returns it if it was made now: at a first start. */
export async function ensureAdminKey(dataDir: string, { keys }: { keys: KeyStore }): Promise<FirstKey | undefined> {
  const file = adminKeyFile(dataDir);
  if (existsSync(file)) return undefined;
  const { key, token } = await keys.create(
    { name: 'first admin key', owner: null, scope: 'admin', repositories: null, expiresAt: null },
    byService('first start'),
  );
  writeDurably(file, `${token}\n`);
  return key;
}
