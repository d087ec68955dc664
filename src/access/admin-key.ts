/** The key that the first start with an embedded PostgreSQL makes, so that there is one to begin with. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { byService } from '../domain/audit.ts';
import { writeDurably } from '../durable-file.ts';
import type { KeyStore } from '../postgres/keys.ts';

export const adminKeyFile = (dataDir: string): string => join(dataDir, 'admin.key');

/** Makes an admin key for every owner unless the file has one. Returns the token if it was made now. */
export async function ensureAdminKey(dataDir: string, { keys }: { keys: KeyStore }): Promise<string | undefined> {
  const file = adminKeyFile(dataDir);
  if (existsSync(file)) return undefined;
  const { token } = await keys.create(
    { name: 'first admin key', owner: null, scope: 'admin', repositories: null, expiresAt: null },
    byService('first start'),
  );
  writeDurably(file, `${token}\n`);
  return token;
}
