/** The part of the configuration that is about the identity provider. `config.ts` reads the environment. */
import { z } from 'zod';
import { parseSignInRules, type SignInRule } from './domain/sign-in-rules.ts';
import { UserError } from './errors.ts';

const DEFAULTS = { scopes: 'openid profile email', groupsClaim: 'groups' };

/** The identity provider, and whom its word lets in. */
export interface OidcConfig {
  issuer: string;
  clientId: string;
  clientSecret: string;
  rules: readonly SignInRule[];
  /** With spaces between. */
  scopes: string;
  /** The claim that lists the groups of a person. */
  groupsClaim: string;
  /** Ids of the tenants whose people may sign in; empty: the issuer speaks for one alone. */
  tenants: readonly string[];
  /** For whom access tokens must be made. */
  audiences: readonly string[];
  /** Whether the provider has accounts that no organisation manages, and says which one does (`hd`). */
  hasHostedDomains: boolean;
}

/** Ids of tenants, separated by commas. */
export const oidcTenants = z
  .string()
  .transform((value) => value.split(',').map((tenant) => tenant.trim().toLowerCase()))
  .refine(
    (tenants) => tenants.every((tenant) => /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(tenant)),
    'must be ids of tenants separated by commas, such as 9188040d-6c67-4c5b-b112-36a304b66dad',
  );

/** Hosts at which Microsoft speaks for its tenants: for one that the path names, or for many. */
const ENTRA_HOSTS =
  /^(?:login\.microsoftonline\.(?:com|us)|login\.partner\.microsoftonline\.cn|login\.chinacloudapi\.cn|login\.microsoft\.com|login\.windows\.net|sts\.windows\.net)$/;
const MANY_TENANTS = ['', 'common', 'organizations', 'consumers'];

/** Whether tokens of an issuer may come from a tenant that anyone has made, who then says what its groups are. */
function speaksForManyTenants(issuer: string): boolean {
  const { hostname, pathname } = new URL(issuer);
  if (/%7B\w+%7D/i.test(pathname)) return true;
  const [, tenant = ''] = pathname.split('/');
  return ENTRA_HOSTS.test(hostname.replace(/\.$/, '')) && MANY_TENANTS.includes(tenant.toLowerCase());
}

const isGoogle = (issuer: string): boolean => new URL(issuer).hostname === 'accounts.google.com';

/** Without `openid` there is no word about the person. */
export const oidcScopes = z
  .string()
  .refine((value) => value.split(' ').includes('openid'), 'must be scopes with spaces between, openid among them');

export const signInRules = z.string().transform((value, context) => {
  const rules = parseSignInRules(value);
  if (rules) return rules;
  context.addIssue({
    code: 'custom',
    message:
      'must be rules separated by semicolons, such as "group:platform admin *; domain:example.com view acme": group, domain or email; view, upload, ci or admin; *, an owner or owner/repository',
  });
  return z.NEVER;
});

interface OidcEnvironment {
  OIDC_ISSUER?: string | undefined;
  OIDC_CLIENT_ID?: string | undefined;
  OIDC_CLIENT_SECRET?: string | undefined;
  OIDC_ACCESS?: SignInRule[] | undefined;
  OIDC_SCOPES?: string | undefined;
  OIDC_GROUPS_CLAIM?: string | undefined;
  OIDC_TENANTS?: string[] | undefined;
  OIDC_AUDIENCE?: string[] | undefined;
  PUBLIC_URL?: string | undefined;
}

/** Undefined without an issuer. Throws a {@link UserError} if the provider is configured in part. */
export function oidcOf(env: OidcEnvironment): OidcConfig | undefined {
  const { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_ACCESS: rules } = env;
  if (issuer === undefined) {
    const other = Object.keys(env).find((name) => name.startsWith('OIDC_'));
    if (other) throw new UserError(`${other} needs OIDC_ISSUER: the address of the identity provider.`);
    return undefined;
  }
  if (clientId === undefined)
    throw new UserError('OIDC_ISSUER needs OIDC_CLIENT_ID: under which the provider knows this service.');
  if (clientSecret === undefined)
    throw new UserError('OIDC_ISSUER needs OIDC_CLIENT_SECRET: the secret that the provider gave with OIDC_CLIENT_ID.');
  if (rules === undefined)
    throw new UserError('OIDC_ISSUER needs OIDC_ACCESS: the rules that say who may sign in. Without one, no one may.');
  if (env.PUBLIC_URL === undefined)
    throw new UserError('OIDC_ISSUER needs PUBLIC_URL: the provider sends people back to an address below it.');
  const tenants = env.OIDC_TENANTS ?? [];
  if (tenants.length === 0 && speaksForManyTenants(issuer))
    throw new UserError(
      `OIDC_ISSUER speaks for many tenants, and anyone can make one: name those that may sign in with OIDC_TENANTS, or use the issuer of one tenant, such as https://login.microsoftonline.com/<tenant id>/v2.0.`,
    );
  const audiences = env.OIDC_AUDIENCE ?? [`${env.PUBLIC_URL}/mcp`];
  if (audiences.includes(clientId))
    throw new UserError(
      'OIDC_AUDIENCE must not be OIDC_CLIENT_ID: ID tokens are made for that, and must not open the service.',
    );
  return {
    issuer,
    clientId,
    clientSecret,
    rules,
    scopes: env.OIDC_SCOPES ?? DEFAULTS.scopes,
    groupsClaim: env.OIDC_GROUPS_CLAIM ?? DEFAULTS.groupsClaim,
    tenants,
    audiences,
    hasHostedDomains: isGoogle(issuer),
  };
}
