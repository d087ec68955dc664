/** Application keys as credentials of requests (design §4 "Authentication"). */
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Access, Credential, CredentialSource, Permission } from '../http/auth.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { ApplicationKey, KeyStore } from '../postgres/keys.ts';

/** Finds the key of a token. */
export class KeyCredentials implements CredentialSource {
  constructor(private readonly keys: KeyStore) {}

  find(token: string): MaybePromise<Credential | undefined> {
    return andThen(this.keys.authenticate(token), (key) => key && credentialOf(key));
  }
}

function credentialOf(key: ApplicationKey): Credential {
  const { id, name, scope, owner, repositories } = key;
  return {
    actor: name,
    application: { id, name, scope, owner, repositories },
    access: (repository, permission) => accessOf(key, repository, permission),
  };
}

/**
 * Another owner is refused. A repository outside the key's list looks as if it did not exist, whatever is asked of it. A `ci` key
 * does everything but read the event log.
 */
export function accessOf(
  key: Pick<ApplicationKey, 'scope' | 'owner' | 'repositories'>,
  { owner, name }: RepositoryName,
  permission: Permission,
): Access {
  if (key.owner !== null && key.owner.toLowerCase() !== owner.toLowerCase()) return 'forbidden';
  const isListed = key.repositories?.some((listed) => listed.toLowerCase() === name.toLowerCase()) ?? true;
  if (!isListed) return 'hidden';
  return permission === 'events' && key.scope !== 'admin' ? 'forbidden' : 'granted';
}
