/** What the service itself writes at repository hosts, and with which credentials: part of the configuration. */
import { createPrivateKey } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseRepositoryList } from './domain/repository-list.ts';
import { UserError } from './errors.ts';

/** The identity of a GitHub App. */
interface GithubApp {
  appId: string;
  /** PEM */
  privateKey: string;
}

export interface CommentsConfig {
  /** Whose pull requests get a comment, and whose commits a check: `*`, `acme` or `acme/shop`, in lower case. */
  comments: readonly string[];
  checks: readonly string[];
  github: { apiUrl: string; graphqlUrl: string; webUrl: string; credential: { token: string } | GithubApp } | undefined;
  gitlab: { apiUrl: string; webUrl: string; token: string } | undefined;
  /** For links. */
  publicUrl: string;
}

const GITHUB_API_URL = 'https://api.github.com';

export const repositoryList = z.string().transform((value, context) => {
  const list = parseRepositoryList(value);
  if (list) return list;
  context.addIssue({
    code: 'custom',
    message: 'must be repositories separated by commas: *, an owner or owner/repository',
  });
  return z.NEVER;
});

/** The values that no log line may contain. */
export function secretsOfComments({ github, gitlab }: CommentsConfig): string[] {
  const ofGithub = github && ('token' in github.credential ? github.credential.token : github.credential.privateKey);
  return [ofGithub, gitlab?.token].filter((secret) => secret !== undefined);
}

interface HostEnvironment {
  PULL_REQUEST_COMMENTS?: string[] | undefined;
  COMMIT_CHECKS?: string[] | undefined;
  GITHUB_API_URL?: string | undefined;
  GITHUB_APP_ID?: string | undefined;
  GITHUB_APP_KEY?: string | undefined;
  GITHUB_APP_KEY_FILE?: string | undefined;
  GITHUB_COMMENT_TOKEN?: string | undefined;
  GITHUB_COMMENT_TOKEN_FILE?: string | undefined;
  GITLAB_API_URL?: string | undefined;
  GITLAB_COMMENT_TOKEN?: string | undefined;
  GITLAB_COMMENT_TOKEN_FILE?: string | undefined;
  PUBLIC_URL?: string | undefined;
}

/** Undefined if the service writes nothing. Throws a {@link UserError} if it is configured in part. */
export function commentsConfigOf(env: HostEnvironment): CommentsConfig | undefined {
  const comments = env.PULL_REQUEST_COMMENTS ?? [];
  const checks = env.COMMIT_CHECKS ?? [];
  if (comments.length + checks.length === 0) return undefined;
  const name = comments.length > 0 ? 'PULL_REQUEST_COMMENTS' : 'COMMIT_CHECKS';
  if (env.PUBLIC_URL === undefined)
    throw new UserError(`${name} needs PUBLIC_URL: what is written at the host links to the service.`);
  const github = githubOf(env);
  const gitlab = gitlabOf(env);
  if (!github && !gitlab)
    throw new UserError(
      `${name} needs a credential of the host: GITHUB_APP_ID with GITHUB_APP_KEY_FILE, GITHUB_COMMENT_TOKEN or GITLAB_COMMENT_TOKEN.`,
    );
  return { comments, checks, github, gitlab, publicUrl: withoutEndSlashes(env.PUBLIC_URL) };
}

function githubOf(env: HostEnvironment): CommentsConfig['github'] {
  const apiUrl = withoutEndSlashes(env.GITHUB_API_URL ?? GITHUB_API_URL);
  const token = secretOf(env, 'GITHUB_COMMENT_TOKEN');
  const privateKey = secretOf(env, 'GITHUB_APP_KEY')?.replaceAll('\\n', '\n');
  const { GITHUB_APP_ID: appId } = env;
  if (token !== undefined && (appId ?? privateKey) !== undefined)
    throw new UserError('Set GITHUB_COMMENT_TOKEN or GITHUB_APP_ID, not both.');
  if ((appId === undefined) !== (privateKey === undefined))
    throw new UserError('GITHUB_APP_ID needs GITHUB_APP_KEY or GITHUB_APP_KEY_FILE, and the key needs the id.');
  const credential =
    appId !== undefined && privateKey !== undefined
      ? { appId, privateKey: checkedKey(privateKey) }
      : token && { token };
  if (!credential) return undefined;
  return { apiUrl, graphqlUrl: `${apiUrl.replace(/\/v3$/, '')}/graphql`, webUrl: webUrlOf(apiUrl), credential };
}

function gitlabOf(env: HostEnvironment): CommentsConfig['gitlab'] {
  const token = secretOf(env, 'GITLAB_COMMENT_TOKEN');
  const { GITLAB_API_URL: url } = env;
  if (url === undefined && token === undefined) return undefined;
  if (token === undefined)
    throw new UserError('GITLAB_API_URL needs GITLAB_COMMENT_TOKEN or GITLAB_COMMENT_TOKEN_FILE.');
  const apiUrl = withoutEndSlashes(url ?? 'https://gitlab.com/api/v4');
  return { apiUrl, webUrl: apiUrl.replace(/\/api\/v4$/, ''), token };
}

/** Where people see the host whose API this is: `api.github.com`, `api.acme.ghe.com`, `git.acme.example/api/v3`. */
function webUrlOf(apiUrl: string): string {
  const { protocol, host, origin } = new URL(apiUrl);
  return host === 'api.github.com' || /^api\..+\.ghe\.com$/.test(host) ? `${protocol}//${host.slice(4)}` : origin;
}

type SecretName = 'GITHUB_APP_KEY' | 'GITHUB_COMMENT_TOKEN' | 'GITLAB_COMMENT_TOKEN';

/** From the variable, or from the file that another one names. No message holds it. */
function secretOf(env: HostEnvironment, name: SecretName): string | undefined {
  const [secret, file] = [env[name], env[`${name}_FILE`]];
  if (secret !== undefined && file !== undefined) throw new UserError(`Set ${name} or ${name}_FILE, not both.`);
  if (file === undefined) return secret;
  let text: string;
  try {
    text = readFileSync(file, 'utf8').trim();
  } catch (cause) {
    throw new UserError(`${name}_FILE names ${file}, which cannot be read.`, { cause });
  }
  if (text === '') throw new UserError(`${name}_FILE names ${file}, which is empty.`);
  return text;
}

/** Not the cause: it may quote the key. */
function checkedKey(pem: string): string {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return pem;
  } catch {}
  throw new UserError('GITHUB_APP_KEY must be the private key of the App: a PEM file with an RSA key.');
}

const withoutEndSlashes = (url: string): string => url.replace(/(?<!\/)\/+$/, '');
