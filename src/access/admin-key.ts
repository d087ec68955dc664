/** The key that the first start with an embedded PostgreSQL makes, so that there is one to begin with. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeDurably } from '../durable-file.ts';
import type { Logger } from '../observability/log.ts';
import type { KeyStore } from '../postgres/keys.ts';

export const adminKeyFile = (dataDir: string): string => join(dataDir, 'admin.key');

/**
 * Makes an admin key for every owner unless the file has one. Returns the token if it was made now. Older versions left
 * an empty file after a power loss during their first start.
 */
export async function ensureAdminKey(
  dataDir: string,
  { keys, log }: { keys: KeyStore; log: Logger },
): Promise<string | undefined> {
  const file = adminKeyFile(dataDir);
  const isThere = existsSync(file);
  if (isThere && readFileSync(file, 'utf8').trim() !== '') return undefined;
  const { token } = await keys.create({
    name: 'first admin key',
    owner: null,
    scope: 'admin',
    repositories: null,
    expiresAt: null,
  });
  writeDurably(file, `${token}\n`);
  if (isThere)
    log.warn(`${file} was empty. A new admin key is in it; to revoke the previous one, use keys list and keys revoke.`);
  return token;
}
