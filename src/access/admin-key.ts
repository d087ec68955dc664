/** The admin key that the first start with an embedded PostgreSQL creates, so that there is one to begin with. */
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { KeyStore } from '../postgres/keys.ts';

export const adminKeyFile = (dataDir: string): string => join(dataDir, 'admin.key');

/** Creates an admin key for every owner unless the file exists. Returns the token if it was created now. */
export async function ensureAdminKey(dataDir: string, keys: KeyStore): Promise<string | undefined> {
  const file = adminKeyFile(dataDir);
  if (existsSync(file)) return undefined;
  const { token } = await keys.create({
    name: 'first start',
    owner: null,
    scope: 'admin',
    repositories: null,
    expiresAt: null,
  });
  writeFileSync(file, `${token}\n`, { mode: 0o600, flag: 'wx' });
  return token;
}
