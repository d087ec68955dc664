/** Application keys as credentials of requests. */
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Access, Credential, CredentialSource, DecidingCredential, Permission } from '../http/auth.ts';
import type { ApplicationKey, KeyStore } from '../postgres/keys.ts';

/** Finds the key of a token. */
export class KeyCredentials implements CredentialSource {
  constructor(private readonly keys: KeyStore) {}

  async find(token: string): Promise<Credential | undefined> {
    const key = await this.keys.authenticate(token);
    return key && credentialOf(key);
  }

  recall(token: string): DecidingCredential | undefined {
    const key = this.keys.recall(token);
    return key && credentialOf(key);
  }
}

function credentialOf(key: ApplicationKey): DecidingCredential {
  const { id, name, scope, owner, repositories } = key;
  const decide = (repository: RepositoryName, permission: Permission) => accessOf(key, repository, permission);
  return {
    actor: name,
    application: { id, name, scope, owner, repositories },
    access: async (repository, permission) => decide(repository, permission),
    decide,
  };
}

/**
 * Another owner is refused. A repository outside the key's list looks as if it did not exist, whatever is asked of it.
 * A `ci` key may do everything except read the event log.
 */
function accessOf(
  key: Pick<ApplicationKey, 'scope' | 'owner' | 'repositories'>,
  { owner, name }: RepositoryName,
  permission: Permission,
): Access {
  if (key.owner !== null && key.owner.toLowerCase() !== owner.toLowerCase()) return 'forbidden';
  const isListed = key.repositories?.some((listed) => listed.toLowerCase() === name.toLowerCase()) ?? true;
  if (!isListed) return 'hidden';
  return permission === 'events' && key.scope !== 'admin' ? 'forbidden' : 'granted';
}
