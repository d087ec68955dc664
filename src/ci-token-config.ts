/** The part of the configuration that is about identity tokens of CI jobs. `config.ts` reads the environment. */
import { z } from 'zod';
import { CI_KINDS, type CiIssuer, type CiKind } from './domain/ci-claims.ts';
import { type CiRule, parseCiRules } from './domain/ci-rules.ts';
import { UserError } from './errors.ts';

/** Whose identity tokens are exchanged for keys, and what for. */
export interface CiTokenConfig {
  issuers: readonly CiIssuer[];
  /** A token must be made for one of them. */
  audiences: readonly string[];
  rules: readonly CiRule[];
}

/** Issuers with one address for everyone. */
const ADDRESSES: Partial<Record<CiKind, string>> = {
  github: 'https://token.actions.githubusercontent.com',
  gitlab: 'https://gitlab.com',
  buildkite: 'https://agent.buildkite.com',
};

export const ciIssuers = z.string().transform((value, context) => {
  const parts = value.split(';').map((part) => part.trim());
  const issuers = parts.filter((part) => part !== '').map(parseIssuer);
  const valid = issuers.filter((issuer) => issuer !== undefined);
  const distinct = new Set(valid.flatMap(({ name, url }) => [`name ${name}`, `url ${url}`]));
  if (valid.length === issuers.length && valid.length > 0 && distinct.size === 2 * valid.length) return valid;
  context.addIssue({
    code: 'custom',
    message:
      'must be distinct issuers separated by semicolons, such as "github; own=gitlab:https://gitlab.example.com": github, gitlab or buildkite, or name=kind:address with https (http for this machine only)',
  });
  return z.NEVER;
});

function parseIssuer(text: string): CiIssuer | undefined {
  const [, name, kindName, address] = /^([\w-]+)(?:=(\w+):(\S+))?$/.exec(text) ?? [];
  const kind = CI_KINDS.find((known) => known === (kindName ?? name));
  const url = address ?? (kind && ADDRESSES[kind]);
  if (name === undefined || kind === undefined || url === undefined || !isIssuerAddress(url)) return undefined;
  return { name, kind, url };
}

/** Keys that decide who is who come from there, so without TLS only within this machine. */
function isIssuerAddress(text: string): boolean {
  const url = URL.parse(text);
  if (url === null || /[?#@]/.test(text)) return false;
  const isLocal = /^(?:localhost|127(?:\.\d+){3}|\[::1\])$/.test(url.hostname);
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal);
}

export const ciAudiences = z
  .string()
  .transform((value) => value.split(',').map((audience) => audience.trim()))
  .refine((list) => list.every((audience) => audience !== ''), 'must be one audience, or several with commas between');

export const ciRules = z.string().transform((value, context) => {
  const rules = parseCiRules(value);
  if (rules) return rules;
  context.addIssue({
    code: 'custom',
    message:
      'must be rules separated by semicolons, such as "github:acme upload *; github:acme/shop ci acme/shop ref=refs/heads/main": issuer and owner or repository; view, upload or ci; *, an owner or owner/repository; claims that must fit, trust-ref, evidence',
  });
  return z.NEVER;
});

interface CiTokenEnvironment {
  CI_TOKEN_ISSUERS?: CiIssuer[] | undefined;
  CI_TOKEN_AUDIENCE?: string[] | undefined;
  CI_TOKEN_ACCESS?: CiRule[] | undefined;
  PUBLIC_URL?: string | undefined;
}

/** Undefined without issuers. Throws a {@link UserError} if they are configured in part. */
export function ciTokensOf(env: CiTokenEnvironment): CiTokenConfig | undefined {
  const { CI_TOKEN_ISSUERS: issuers, CI_TOKEN_ACCESS: rules } = env;
  const audiences =
    env.CI_TOKEN_AUDIENCE ?? (env.PUBLIC_URL === undefined ? undefined : [withoutSlash(env.PUBLIC_URL)]);
  if (issuers === undefined) {
    const other = Object.keys(env).find((name) => name.startsWith('CI_TOKEN_'));
    if (other) throw new UserError(`${other} needs CI_TOKEN_ISSUERS: the CI systems whose tokens are accepted.`);
    return undefined;
  }
  if (rules === undefined)
    throw new UserError(
      'CI_TOKEN_ISSUERS needs CI_TOKEN_ACCESS: the rules that say whose jobs get what. Without one, none gets anything.',
    );
  if (audiences === undefined)
    throw new UserError(
      'CI_TOKEN_ISSUERS needs CI_TOKEN_AUDIENCE or PUBLIC_URL: for whom tokens are made. Those for others are refused.',
    );
  const unknown = rules.find(({ issuer }) => !issuers.some(({ name }) => name === issuer));
  if (unknown)
    throw new UserError(`CI_TOKEN_ACCESS names ${unknown.issuer}, which is not among the issuers of CI_TOKEN_ISSUERS.`);
  return { issuers, audiences, rules };
}

const withoutSlash = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
