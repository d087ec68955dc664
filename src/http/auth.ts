/**
 * Authentication: who asks, and what they may do. Each kind of credential is a source behind one interface: application
 * keys, tokens of the repository host, and sessions of browsers.
 */
import type { AuditActor } from '../domain/audit.ts';
import type { EventActor } from '../domain/events.ts';
import type { KeyScope } from '../domain/key-scope.ts';
import type { ReportBounds } from '../domain/report-bounds.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import { forbidden, HttpProblem, notFound } from './problems.ts';
import { isFromOwnPage, isRead } from './same-origin.ts';
import { sessionTokenOf } from './session-cookie.ts';

/** The permission that an operation asks for. `events` is the event log, which a CI key may not read. */
export type Permission = 'read' | 'upload' | 'quarantine' | 'events' | 'administer';

/** `hidden`: the repository must look as if it did not exist. */
export type Access = 'granted' | 'forbidden' | 'hidden';

/** An accepted credential. */
export interface Credential {
  /** Who acts, for the record: the name of a key, or a login of the repository host without `@`. */
  readonly actor: string;
  /** Undefined for tokens of the repository host, which decides itself. */
  readonly grant?: Grant;
  /** Shown by `GET /v1/application`; undefined for credentials other than application keys. */
  readonly application?: Application;
  /** Limits what its reports may say about their run; undefined: nothing is limited. */
  readonly bounds?: ReportBounds;
  /** Undefined for credentials other than sessions. */
  readonly session?: {
    readonly id: string;
    readonly expiresAt: Date;
    /** Who the person is at the identity provider; null: the session was made from a key, or by a link. */
    readonly subject: string | null;
  };
  /** Who the person is at the identity provider, if it vouches for them with each request; a session has its own. */
  readonly subject?: string;
  access(repository: RepositoryName, permission: Permission): Promise<Access>;
}

/** There is no credential, or none that is accepted. */
export class NoCredential extends HttpProblem {
  override name = 'NoCredential';
  constructor(detail: string) {
    super(403, 'Forbidden', detail);
  }
}

/** Who acts, as events name it. A host token names its user by the login only. */
const eventActorOf = ({ actor, application, session, subject }: Credential): EventActor =>
  application
    ? { type: 'application', id: application.id, name: application.name }
    : { type: 'user', id: session?.subject ?? subject ?? null, name: actor };

/** Who acts, as the trail names them. */
export const auditActorOf = (credential: Credential | undefined, requestId: string): AuditActor => {
  if (!credential) return { kind: 'service', name: 'unknown', requestId };
  const { actor: name, application, session, subject } = credential;
  return {
    kind: session ? 'session' : application ? 'key' : subject === undefined ? 'host_token' : 'access_token',
    name,
    keyId: application?.id ?? null,
    sessionId: session?.id ?? null,
    subject: session?.subject ?? subject ?? null,
    requestId,
  };
};

/** Who acts, as the trail and as events name them. */
export const doerOf = (credential: Credential | undefined, requestId: string) => ({
  name: credential?.actor ?? 'unknown',
  actor: credential ? eventActorOf(credential) : ({ type: 'user', id: null, name: 'unknown' } as const),
  audit: auditActorOf(credential, requestId),
});

/** Under which name the requests of a key are counted. */
export const countedAsKey = (keyId: string): string => `key ${keyId}`;

/**
 * Under which name the requests of a credential are counted: sessions with their key or person, each token of the
 * repository host alone, because the jobs of all share one login.
 */
export const countedAs = ({ application, session, subject }: Credential, request: Request): string => {
  if (subject !== undefined) return `person ${subject}`;
  if (application) return countedAsKey(application.id);
  if (session) return session.subject === null ? `session ${session.id}` : `person ${session.subject}`;
  return tokenOf(request) ?? '';
};

/** A credential that decides from what it holds. */
export interface DecidingCredential extends Credential {
  decide(repository: RepositoryName, permission: Permission): Access;
}

/** The purpose of an application key or a session. */
export interface Grant {
  scope: KeyScope;
  /** Null: every owner. */
  owner: string | null;
  /** Names of the owner's repositories that it is for; null: all of them. */
  repositories: readonly string[] | null;
}

/** An application key as its holder may see it. */
interface Application extends Grant {
  id: string;
  name: string;
}

/** Finds the credential of a token. */
export interface CredentialSource {
  /** Undefined if this source does not accept the token. Throws if it cannot tell now. */
  find(token: string, request?: Request): Promise<Credential | undefined>;
  /** The credential if it is in memory; undefined leaves the token to `find`. */
  recall?(token: string): DecidingCredential | undefined;
}

const BEARER = /^bearer +([^\s]+) *$/i;
const HOST_TOKEN = /^(?:gh[opsu]_|github_pat_|glpat-|glcbt-|ATCTT|BBDC-)/;
const HOW = 'Send the header "Authorization: Bearer <application key>"';

/** Where the credentials of requests are looked up. */
export interface CredentialSources {
  /** For the `Authorization` header, asked in this order. */
  credentials: readonly CredentialSource[];
  /** For the cookie of a browser; undefined: no one can sign in. */
  sessions: CredentialSource | undefined;
  /** Decides which cookie holds a session. */
  publicUrl: string | undefined;
}

/**
 * The first source that accepts the token decides. Throws 403 if none does: the API has no 401, and clients
 * handle a missing credential as they handle a wrong one.
 */
export async function authenticate(
  request: Request,
  { credentials, sessions, publicUrl }: CredentialSources,
): Promise<Credential> {
  if (!request.headers.has('authorization')) return authenticateSession(request, sessions, publicUrl);
  const token = tokenOf(request);
  if (token === undefined) throw new NoCredential(`The Authorization header is malformed. ${HOW}.`);
  for (const source of credentials) {
    const credential = await source.find(token, request);
    if (credential) return credential;
  }
  if (HOST_TOKEN.test(token))
    throw new NoCredential(
      `This service does not accept tokens of this repository host (HOST_AUTH does not name it). ${HOW}.`,
    );
  throw new NoCredential(`The credential is unknown, expired or revoked. ${HOW} with a valid key.`);
}

/**
 * A browser sends its cookie with requests of any page on this site, so what changes something must come from a page of
 * ours.
 */
async function authenticateSession(
  request: Request,
  sessions: CredentialSource | undefined,
  publicUrl: string | undefined,
): Promise<Credential> {
  const token = sessionTokenOf(request, publicUrl);
  if (token === undefined || !sessions) throw new NoCredential(`This operation requires a credential. ${HOW}.`);
  if (!isRead(request)) requireOwnPage(request);
  const credential = await sessions.find(token);
  if (!credential) throw forbidden('The session has ended. Sign in again.');
  return credential;
}

/** Throws 403 for a request that another site's page made a browser send. */
export function requireOwnPage(request: Request): void {
  if (isFromOwnPage(request)) return;
  throw forbidden(
    'A session changes something only for pages of this service. Other programs send the header "Authorization: Bearer <application key>".',
  );
}

/** The credential of a request, if a source has it in memory. */
export function recallCredential(
  request: Request,
  { credentials }: Pick<CredentialSources, 'credentials'>,
): DecidingCredential | undefined {
  const token = tokenOf(request);
  if (token === undefined) return undefined;
  for (const source of credentials) {
    const credential = source.recall?.(token);
    if (credential) return credential;
  }
  return undefined;
}

/** The token that a request sends; undefined if it sends none, or not in the right form. */
const tokenOf = (request: Request): string | undefined => BEARER.exec(request.headers.get('authorization') ?? '')?.[1];

const DEEDS: Record<Permission, string> = {
  read: 'read this repository',
  upload: 'upload for this repository',
  quarantine: 'quarantine tests of this repository',
  events: 'read the event log of this repository',
  administer: 'change the settings of this repository',
};
const SUFFICIENT: Record<Permission, string> = {
  read: 'a key for its owner, or a host token that may pull',
  upload: 'a key for its owner with the scope upload, ci or admin, or a host token that may push',
  quarantine: 'a key for its owner with the scope ci or admin, or a host token that may push',
  events: 'a key for its owner with the scope view or admin, or a host token that may pull',
  administer: 'a key for its owner with the scope admin',
};

/** Throws unless the credential may do this to the repository. */
export async function requireAccess(
  credential: Credential,
  repository: RepositoryName,
  permission: Permission,
): Promise<void> {
  const access = await credential.access(repository, permission);
  if (access === 'hidden')
    throw notFound('There is no such repository for this credential: check the owner and the name.');
  if (access === 'forbidden')
    throw forbidden(`This credential may not ${DEEDS[permission]}. Use ${SUFFICIENT[permission]}.`);
}

/** Whether it may do everything everywhere, such as an admin key of every owner. */
export const isOperator = ({ grant }: Pick<Credential, 'grant'>): boolean =>
  grant?.scope === 'admin' && grant.owner === null && grant.repositories === null;

/** Throws unless the credential may operate the service. */
export function requireOperator(credential: Credential): void {
  if (isOperator(credential)) return;
  throw forbidden(
    'This credential may not operate the service. Use an admin key of every owner: `ci-insights keys create --every-owner --scope admin` creates one.',
  );
}
