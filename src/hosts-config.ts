/** The part of the configuration that is about repository hosts. `config.ts` reads the environment. */
import { createPrivateKey } from 'node:crypto';
import { z } from 'zod';
import { HOST_KINDS, type HostKindName } from './domain/host-page.ts';
import { UserError } from './errors.ts';
import { HOSTS } from './hosts/hosts.ts';
import type { HostSite, OwnerSecrets } from './hosts/site.ts';
import { readSecretFile } from './secret-file.ts';

interface NamedHost {
  name: string;
  kind: HostKindName;
  url: string;
}

const GITHUB: NamedHost = { name: 'github', kind: 'github', url: HOSTS.github.home };

export const namedHosts = z.string().transform((value, context) => {
  const parts = value.split(';').map((part) => part.trim());
  const hosts = parts.filter((part) => part !== '').map(parseHost);
  const valid = hosts.filter((host) => host !== undefined);
  const distinct = new Set(valid.flatMap(({ name, url }) => [`name ${name}`, `url ${url}`]));
  if (valid.length > 0 && valid.length === hosts.length && distinct.size === 2 * valid.length) return valid;
  context.addIssue({
    code: 'custom',
    message: `must be distinct hosts separated by semicolons, such as "github; own=gitea:https://git.example.com": github, gitlab, bitbucket-cloud, or name=kind:address with a kind of ${HOST_KINDS.join(', ')} and https (http for this machine only)`,
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
  if (name === undefined || kind === undefined || url === undefined) return undefined;
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
  .refine((names) => names.every((name) => name !== ''), 'must be names of hosts with commas between');

interface HostSecret {
  name: string;
  owner: string | undefined;
  secret: string;
}

/** Short secrets can be guessed. */
const SECRET_LENGTH_MIN = 16;
const SECRET = new RegExp(`^([a-z0-9-]+)(?:/([\\w.-]+))?=(.{${SECRET_LENGTH_MIN},})$`);

/** A host, or an owner on it, may be named twice, during a rotation. */
export const hostSecrets = listOf(
  `must look like host=secret,host/owner=secret, each secret of at least ${SECRET_LENGTH_MIN} characters`,
  (part): HostSecret | undefined => {
    const [, name, owner, secret] = SECRET.exec(part) ?? [];
    return name === undefined || secret === undefined ? undefined : { name, owner: owner?.toLowerCase(), secret };
  },
);

/** With what the service reads and writes at a host: a token. */
export const hostTokens = listOf('must look like host=token,other=token', (part) => {
  const [, name, token] = /^([a-z0-9-]+)=(\S+)$/.exec(part) ?? [];
  return name === undefined || token === undefined ? undefined : { name, token };
});

/** The same as an App: its id, or client id, and the file of its key. */
export const hostApps = listOf('must look like host=id:file, with the file of the private key', (part) => {
  const [, name, appId, file] = /^([a-z0-9-]+)=([\w.-]{1,100}):(.+)$/.exec(part) ?? [];
  return name === undefined || appId === undefined || file === undefined ? undefined : { name, appId, file };
});

/** Of parts with commas between. No message shows a part, because parts have secrets. */
function listOf<T>(message: string, parse: (part: string) => T | undefined) {
  return z.string().transform((value, context): T[] => {
    const parts = value.split(',').map((part) => parse(part.trim()));
    const valid = parts.filter((part) => part !== undefined);
    if (valid.length === parts.length) return valid;
    context.addIssue({ code: 'custom', message });
    return z.NEVER;
  });
}

export interface HostsEnvironment {
  HOSTS?: NamedHost[] | undefined;
  HOST_AUTH?: string[] | undefined;
  HOST_TOKENS?: { name: string; token: string }[] | undefined;
  HOST_APPS?: { name: string; appId: string; file: string }[] | undefined;
  HOST_WEBHOOK_SECRETS?: HostSecret[] | undefined;
}

/** The first host is the default host. Throws a {@link UserError} if a variable names a host that is not there. */
export function hostSitesOf(env: HostsEnvironment): HostSite[] {
  const {
    HOSTS: hosts = [GITHUB],
    HOST_AUTH: asked = [],
    HOST_TOKENS: tokens = [],
    HOST_APPS: apps = [],
    HOST_WEBHOOK_SECRETS: secrets = [],
  } = env;
  for (const [variable, names] of Object.entries({
    HOST_AUTH: asked,
    HOST_TOKENS: tokens.map(({ name }) => name),
    HOST_APPS: apps.map(({ name }) => name),
    HOST_WEBHOOK_SECRETS: secrets.map(({ name }) => name),
  })) {
    const unknown = names.find((name) => !hosts.some((host) => host.name === name));
    if (unknown !== undefined)
      throw new UserError(`${variable} names ${unknown}, which is not among the hosts of HOSTS.`);
  }
  return hosts.map(({ name, kind, url }, i): HostSite => {
    const ofHost = <T extends { name: string }>(list: readonly T[]): T[] => list.filter((one) => one.name === name);
    return {
      name,
      kind,
      url,
      isDefault: i === 0,
      apiUrl: HOSTS[kind].apiUrlOf(url),
      isAsked: asked.includes(name),
      credential: credentialOf({ name, kind }, ofHost(tokens), ofHost(apps)),
      secrets: ofHost(secrets).flatMap(({ owner, secret }) => (owner === undefined ? [secret] : [])),
      ownerSecrets: ownerSecretsOf(ofHost(secrets)),
    };
  });
}

function credentialOf(
  { name, kind }: { name: string; kind: HostKindName },
  tokens: readonly { token: string }[],
  apps: readonly { appId: string; file: string }[],
): HostSite['credential'] {
  const [token, app] = [tokens[0], apps[0]];
  if (tokens.length + apps.length > 1)
    throw new UserError(`HOST_TOKENS and HOST_APPS name ${name} more than once: a host has one token, or one App.`);
  if (!app) return token && { token: token.token };
  if (!('app' in HOSTS[kind])) throw new UserError(`HOST_APPS names ${name}, but only GitHub has Apps.`);
  return { appId: app.appId, privateKey: checkedKey(app.file) };
}

/** Not the cause: it may quote the key. */
function checkedKey(file: string): string {
  const pem = readSecretFile('HOST_APPS', file);
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
  } catch {}
  throw new UserError(`HOST_APPS names ${file}, which is not the private key of an App: a PEM file with an RSA key.`);
}

function ownerSecretsOf(secrets: readonly HostSecret[]): OwnerSecrets {
  const byOwner = new Map<string, string[]>();
  for (const { owner, secret } of secrets)
    if (owner !== undefined) byOwner.set(owner, [...(byOwner.get(owner) ?? []), secret]);
  return byOwner;
}
