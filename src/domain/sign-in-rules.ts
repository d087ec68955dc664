/**
 * Whom the word of an identity provider lets in, and what they may then do. A rule is a sentence of three words: who, scope,
 * where. The first rule that names a person decides; whom none names stays outside.
 *
 * @example
 * group:platform admin *; domain:example.com view acme; email:ann@example.com ci acme/shop
 */
import { KEY_SCOPES, type KeyScope } from './key-scope.ts';
import { ownerSchema, repositoryNameSchema } from './repository-path.ts';

export interface SignInRule {
  kind: 'group' | 'domain' | 'email';
  /** A domain or an address is in lower case. */
  value: string;
  grant: SignInGrant;
}

/** Rights of the person's session. */
interface SignInGrant {
  scope: KeyScope;
  /** Null: every owner. */
  owner: string | null;
  /** Null: all of the owner's. */
  repositories: string[] | null;
}

/** Facts about a person that rules ask for, as the provider states them. */
export interface Person {
  /** Undefined: there is none, or the provider does not say that it has verified it. */
  email: string | undefined;
  groups: readonly string[];
  /**
   * The domain of the organisation that manages the account; null: none does. Undefined: the provider does not tell, and
   * everyone with an address of a domain belongs to it. At Google anyone may make an account with an address of a company,
   * and keeps it after leaving.
   */
  hostedDomain?: string | null | undefined;
}

/** Names of groups may contain spaces. */
const RULE = /^(group|domain|email):(.+?) +(\w+) +(\S+)$/;

/** The rules of a text; undefined if one of them is malformed, or there is none. */
export function parseSignInRules(text: string): SignInRule[] | undefined {
  const parts = text.split(';').map((part) => part.trim());
  const rules = parts.filter((part) => part !== '').map(parseRule);
  const valid = rules.filter((rule) => rule !== undefined);
  return valid.length === rules.length && valid.length > 0 ? valid : undefined;
}

function parseRule(text: string): SignInRule | undefined {
  const [, kind, name = '', scopeName, place = ''] = RULE.exec(text) ?? [];
  const scope = KEY_SCOPES.find((known) => known === scopeName);
  const where = parsePlace(place);
  if (scope === undefined || where === undefined) return undefined;
  const grant = { scope, ...where };
  const value = name.toLowerCase();
  if (kind === 'group') return { kind, value: name, grant };
  if (kind === 'domain') return value.includes('@') || /\s/.test(value) ? undefined : { kind, value, grant };
  if (kind === 'email') return /^[^@\s]+@[^@\s]+$/.test(value) ? { kind, value, grant } : undefined;
  return undefined;
}

/** `*`, an owner, or an owner with one repository. */
export function parsePlace(place: string): Pick<SignInGrant, 'owner' | 'repositories'> | undefined {
  if (place === '*') return { owner: null, repositories: null };
  const [owner, repository, ...rest] = place.split('/');
  if (rest.length > 0 || !ownerSchema.safeParse(owner).success || owner === undefined) return undefined;
  if (repository === undefined) return { owner, repositories: null };
  return repositoryNameSchema.safeParse(repository).success ? { owner, repositories: [repository] } : undefined;
}

/** The rights of a person; undefined: no rule lets them in. */
export function grantOfPerson(
  rules: readonly SignInRule[],
  { email, groups, hostedDomain }: Person,
): SignInGrant | undefined {
  const address = email?.toLowerCase();
  const domainOfAddress = address?.includes('@') ? address.split('@').at(-1) : undefined;
  const isManaged = hostedDomain === undefined || hostedDomain?.toLowerCase() === domainOfAddress;
  const domain = isManaged ? domainOfAddress : undefined;
  const named = { group: groups, domain: [domain], email: [address] };
  return rules.find(({ kind, value }) => named[kind].includes(value))?.grant;
}
