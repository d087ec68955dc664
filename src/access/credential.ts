/** Application keys, and sessions made from them, as credentials of requests. */
import type { KeyScope } from '../domain/key-scope.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { Access, Credential, CredentialSource, DecidingCredential, Grant, Permission } from '../http/auth.ts';
import type { ApplicationKey, KeyStore } from '../postgres/keys.ts';
import type { SessionStore } from '../postgres/sessions.ts';
import type { Confirmations } from './confirmation.ts';

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
  const { id, name, scope, owner, repositories, bounds } = key;
  const decide = (repository: RepositoryName, permission: Permission) => accessOf(key, repository, permission);
  return {
    actor: name,
    grant: { scope, owner, repositories },
    application: { id, name, scope, owner, repositories },
    ...(bounds && { bounds }),
    access: async (repository, permission) => decide(repository, permission),
    decide,
  };
}

/** Finds the session of a token. */
export class SessionCredentials implements CredentialSource {
  constructor(
    private readonly sessions: SessionStore,
    private readonly confirmations: Confirmations,
  ) {}

  async find(token: string): Promise<Credential | undefined> {
    const found = await this.sessions.authenticate(token);
    const session = found && (await this.confirmations.of(found, token));
    if (!session) return undefined;
    const { id, keyId, actor, subject, scope, owner, repositories, bounds, expiresAt } = session;
    return {
      actor,
      grant: { scope, owner, repositories },
      ...(keyId !== null && { application: { id: keyId, name: actor, scope, owner, repositories } }),
      ...(bounds && { bounds }),
      session: { id, expiresAt, subject },
      access: async (repository, permission) => accessOf(session, repository, permission),
    };
  }
}

/** The permissions of a key, by its scope. */
export const PERMITTED: Readonly<Record<KeyScope, readonly Permission[]>> = {
  view: ['read', 'events'],
  upload: ['read', 'upload'],
  ci: ['read', 'upload', 'quarantine'],
  admin: ['read', 'upload', 'quarantine', 'events', 'administer'],
};

/**
 * Another owner is refused. A repository outside the list looks as if it did not exist, whatever is asked of it. The
 * rest is up to the scope.
 */
export function accessOf(grant: Grant, { owner, name }: RepositoryName, permission: Permission): Access {
  if (grant.owner !== null && grant.owner.toLowerCase() !== owner.toLowerCase()) return 'forbidden';
  const isListed = grant.repositories?.some((listed) => listed.toLowerCase() === name.toLowerCase()) ?? true;
  if (!isListed) return 'hidden';
  return PERMITTED[grant.scope].includes(permission) ? 'granted' : 'forbidden';
}
