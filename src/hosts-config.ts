/** The part of the configuration that is about repository hosts. `config.ts` reads the environment. */
import { z } from 'zod';
import { HOST_KINDS, type HostKindName } from './domain/host-page.ts';
import { UserError } from './errors.ts';
import { HOSTS } from './hosts/hosts.ts';
import type { HostSite, OwnerSecrets } from './hosts/site.ts';

/** Always there, and configured by its own variables. */
const GITHUB = 'github';

interface NamedHost {
  name: string;
  kind: HostKindName;
  url: string;
}

const NAMES = 'names of hosts with commas between';

export const furtherHosts = z.string().transform((value, context) => {
  const parts = value.split(';').map((part) => part.trim());
  const hosts = parts.filter((part) => part !== '').map(parseHost);
  const valid = hosts.filter((host) => host !== undefined);
  const distinct = new Set(valid.flatMap(({ name, url }) => [`name ${name}`, `url ${url}`]));
  if (valid.length === hosts.length && distinct.size === 2 * valid.length) return valid;
  context.addIssue({
    code: 'custom',
    message: `must be distinct hosts separated by semicolons, such as "gitlab; own=gitea:https://git.example.com": gitlab, bitbucket-cloud, or name=kind:address with a kind of ${HOST_KINDS.join(', ')} and https (http for this machine only)`,
  });
  return z.NEVER;
});

/** A name stands before the owner in addresses, which have 40 characters for both. */
const HOST = /^([a-z0-9]+(?:-[a-z0-9]+)*)(?:=([a-z-]+):(\S+))?$/;
const NAME_LENGTH_MAX = 22;

function parseHost(text: string): NamedHost | undefined {
  const [, name, kindName, address] = HOST.exec(text) ?? [];
  const kind = HOST_KINDS.find((known) => known === (kindName ?? name));
  const url = (address ?? (kind && HOSTS[kind].home))?.replace(/(?<!\/)\/+$/, '');
  if (name === undefined || kind === undefined || url === undefined || name === GITHUB) return undefined;
  return name.length <= NAME_LENGTH_MAX && isHostAddress(url) ? { name, kind, url } : undefined;
}

/** Tokens are sent there, so without TLS only within this machine. Paths are appended. */
function isHostAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#@]/.test(text)) return false;
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
}

export const hostNames = z
  .string()
  .transform((value) => value.split(',').map((name) => name.trim()))
  .refine((names) => names.every((name) => name !== ''), `must be ${NAMES}`);

interface HostSecret {
  name: string;
  owner: string | undefined;
  secret: string;
}

/** Short secrets can be guessed. */
const SECRET_LENGTH_MIN = 16;
const SECRET = new RegExp(`^([a-z0-9-]+)(?:/([\\w.-]+))?=(.{${SECRET_LENGTH_MIN},})$`);

/** A host, or an owner on it, may be named twice, during a rotation. */
export const hostSecrets = z.string().transform((value, context) => {
  const parts = value.split(',').map((part) => part.trim());
  const secrets = parts.map((part): HostSecret | undefined => {
    const [, name, owner, secret] = SECRET.exec(part) ?? [];
    return name === undefined || secret === undefined ? undefined : { name, owner: owner?.toLowerCase(), secret };
  });
  const valid = secrets.filter((secret) => secret !== undefined);
  if (valid.length === secrets.length) return valid;
  context.addIssue({
    code: 'custom',
    message: `must look like host=secret,host/owner=secret, each secret of at least ${SECRET_LENGTH_MIN} characters`,
  });
  return z.NEVER;
});

interface HostsEnvironment {
  HOSTS?: NamedHost[] | undefined;
  HOST_TOKENS?: string[] | undefined;
  HOST_WEBHOOK_SECRETS?: HostSecret[] | undefined;
  DEFAULT_HOST?: string | undefined;
}

type GitHubSite = Pick<HostSite, 'apiUrl' | 'secrets' | 'ownerSecrets'>;

/** GitHub and the further hosts. Throws a {@link UserError} if a variable names a host that is not there. */
export function hostSitesOf(env: HostsEnvironment, github: GitHubSite): HostSite[] {
  const { HOSTS: further = [], HOST_TOKENS: tokens = [], HOST_WEBHOOK_SECRETS: secrets = [] } = env;
  const defaultName = env.DEFAULT_HOST ?? GITHUB;
  const known = further.map(({ name }) => name);
  for (const [variable, names] of Object.entries({
    HOST_TOKENS: tokens,
    HOST_WEBHOOK_SECRETS: secrets.map(({ name }) => name),
    DEFAULT_HOST: defaultName === GITHUB ? [] : [defaultName],
  })) {
    const unknown = names.find((name) => !known.includes(name));
    if (unknown !== undefined)
      throw new UserError(
        `${variable} names ${unknown}, which is not among the hosts of HOSTS. (GitHub has its own variables.)`,
      );
  }
  return [
    { name: GITHUB, kind: 'github', isDefault: defaultName === GITHUB, ...github },
    ...further.map(
      ({ name, kind, url }): HostSite => ({
        name,
        kind,
        isDefault: name === defaultName,
        apiUrl: tokens.includes(name) ? HOSTS[kind].apiUrlOf(url) : undefined,
        secrets: secrets.filter((one) => one.name === name && one.owner === undefined).map(({ secret }) => secret),
        ownerSecrets: ownerSecretsOf(secrets.filter((one) => one.name === name)),
      }),
    ),
  ];
}

function ownerSecretsOf(secrets: readonly HostSecret[]): OwnerSecrets {
  const byOwner = new Map<string, string[]>();
  for (const { owner, secret } of secrets)
    if (owner !== undefined) byOwner.set(owner, [...(byOwner.get(owner) ?? []), secret]);
  return byOwner;
}
