/**
 * Who asks, and what they may do (design §4 "Authentication"). Kinds of credentials are sources behind one interface:
 * application keys, and tokens of the repository host.
 */
import type { KeyScope } from '../domain/key-scope.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import { forbidden, notFound } from './problems.ts';

/** What an operation asks for. `events` is the event log, which a CI key may not read. */
export type Permission = 'read' | 'upload' | 'quarantine' | 'events';

/** `hidden`: the repository must look as if it did not exist. */
export type Access = 'granted' | 'forbidden' | 'hidden';

/** An accepted credential. */
export interface Credential {
  /** Who acts, for the record: a key's name, or a login of the repository host without `@`. */
  readonly actor: string;
  /** Shown by `GET /v1/application`; undefined for credentials that are no application key. */
  readonly application?: Application;
  access(repository: RepositoryName, permission: Permission): MaybePromise<Access>;
}

/** An application key as its holder may see it. */
export interface Application {
  id: string;
  name: string;
  scope: KeyScope;
  /** Null: every owner. */
  owner: string | null;
  /** Names of the owner's repositories the key is for; null: all of them. */
  repositories: readonly string[] | null;
}

/** Finds the credential of a token; undefined when this source does not accept it. Throws when it cannot tell now. */
export interface CredentialSource {
  find(token: string): MaybePromise<Credential | undefined>;
}

const BEARER = /^bearer +([^\s]+) *$/i;
const HOW = 'Send the header "Authorization: Bearer <application key>"';

/** The first source that knows the token decides; 403 when none does (the spec knows no 401). */
export function authenticate(request: Request, sources: readonly CredentialSource[]): MaybePromise<Credential> {
  const header = request.headers.get('authorization');
  if (header === null) throw forbidden(`This operation needs a credential. ${HOW}.`);
  const token = BEARER.exec(header)?.[1];
  if (token === undefined) throw forbidden(`The Authorization header is not of a known form. ${HOW}.`);
  return firstOf(token, sources, 0);
}

function firstOf(token: string, sources: readonly CredentialSource[], index: number): MaybePromise<Credential> {
  const source = sources[index];
  if (!source) throw forbidden(`The credential is unknown, expired or revoked. ${HOW} with a key that is valid.`);
  return andThen(source.find(token), (credential) => credential ?? firstOf(token, sources, index + 1));
}

/** Throws, or the promise rejects, unless the credential may do this to the repository. */
export const requireAccess = (
  credential: Credential,
  repository: RepositoryName,
  permission: Permission,
): MaybePromise<void> => andThen(credential.access(repository, permission), requireGranted);

function requireGranted(access: Access): void {
  if (access === 'hidden') throw notFound('There is no such repository for this credential: check owner and name.');
  if (access === 'forbidden')
    throw forbidden(
      'The credential does not allow this: use a key of this owner with the scope that is needed, or a token that may push.',
    );
}
