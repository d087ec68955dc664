/**
 * The trail: who gave or took access, and who changed what people decide. An entry is written in the transaction of what it
 * tells, and outlives it: it names things, and refers to none.
 */

/** In the order of the API's documentation. */
export const AUDIT_ACTIONS = [
  'key.create',
  'key.exchange',
  'key.revoke',
  'session.begin',
  'session.change',
  'session.end',
  'repository.create',
  'repository.settings',
  'repository.rename',
  'repository.delete',
  'repository.deleted',
  'person.forget',
  'tests.forget',
  'tests.forgotten',
  'quarantine.create',
  'quarantine.update',
  'quarantine.remove',
  'quarantine.restore',
  'cause.update',
  'cause.quarantine',
  'cause.release',
  'rename.accept',
  'rename.reject',
  'rename.undo',
  'view.create',
  'view.remove',
  'backtest.request',
  'import.start',
  'import.cancel',
  'verification.request',
  'dead_letter.replay',
  'queue.retry',
  'derived.rebuild',
  'stores.copy',
  'stores.dump',
  'stores.restore',
  'stores.reconcile',
  'uploads.resend',
] as const;
export type AuditAction = (typeof AUDIT_ACTIONS)[number];

/**
 * `key`: an application key; `session`: a browser that signed in; `host_token`: a token of the repository host; `access_token`: a program to which a person lent their rights; `ci_job`:
 * jobs of a CI, by their identity tokens; `command`: a command on the server; `service`: the service itself, by one of its rules.
 */
export const AUDIT_ACTOR_KINDS = [
  'key',
  'session',
  'host_token',
  'access_token',
  'ci_job',
  'command',
  'service',
] as const;
type AuditActorKind = (typeof AUDIT_ACTOR_KINDS)[number];

/** Who acted. Nothing in it is a secret. */
export interface AuditActor {
  kind: AuditActorKind;
  name: string;
  /** The key that acted, or from which the session was made. */
  keyId?: string | null;
  sessionId?: string | null;
  /** Who the person is at the identity provider, or at the system on which a command ran. */
  subject?: string | null;
  /** The request, under which the logs of the service and of proxies before it have the address of the client. */
  requestId?: string | null;
}

/** A change that was made. Its actor and its moment come with the writing. */
export interface AuditDeed {
  action: AuditAction;
  /** Null for what has no id. */
  objectId?: string | null;
  objectName?: string | null;
  owner?: string | null;
  repository?: string | null;
  before?: Details | null;
  after?: Details | null;
}

type Details = Readonly<Record<string, unknown>>;

const AUDIT_TEXT_LENGTH_MAX = 500;
const LIST_LENGTH_MAX = 20;

/** The service itself, by one of its rules. */
export const byService = (name: string): AuditActor => ({ kind: 'service', name });

/** A text that fits into an entry. */
export const briefText = (text: string): string =>
  text.length <= AUDIT_TEXT_LENGTH_MAX ? text : `${text.slice(0, AUDIT_TEXT_LENGTH_MAX).toWellFormed()}…`;

/** Values that fit into an entry: long texts and lists are cut. */
export const briefDetails = (details: Details): Details =>
  Object.fromEntries(Object.entries(details).map(([name, value]) => [name, brief(value)]));

function brief(value: unknown): unknown {
  if (typeof value === 'string') return briefText(value);
  if (!Array.isArray(value)) return value;
  const kept = value.slice(0, LIST_LENGTH_MAX).map(brief);
  return value.length > kept.length ? [...kept, `… and ${value.length - kept.length} more`] : kept;
}

/** The values that differ, as they were and as they are. Undefined if none does. */
export function changeOf<T extends Details>(before: T, after: T): { before: Details; after: Details } | undefined {
  const names = Object.keys(after).filter((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]));
  if (names.length === 0) return undefined;
  const only = (of: T): Details => Object.fromEntries(names.map((name) => [name, of[name]]));
  return { before: only(before), after: only(after) };
}
