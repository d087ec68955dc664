/** What the service itself writes at repository hosts: part of the configuration. */
import { z } from 'zod';
import { parseRepositoryList } from './domain/repository-list.ts';
import { UserError } from './errors.ts';
import type { HostSite } from './hosts/site.ts';

export interface CommentsConfig {
  /** Whose pull requests get a comment, and whose commits a check: `*`, `acme` or `acme/shop`, in lower case. */
  comments: readonly string[];
  checks: readonly string[];
  /** All of them: those without a credential are left alone. */
  hosts: readonly HostSite[];
  /** For links. */
  publicUrl: string;
}

export const repositoryList = z.string().transform((value, context) => {
  const list = parseRepositoryList(value);
  if (list) return list;
  context.addIssue({
    code: 'custom',
    message: 'must be repositories separated by commas: *, an owner or owner/repository',
  });
  return z.NEVER;
});

interface CommentsEnvironment {
  PULL_REQUEST_COMMENTS?: string[] | undefined;
  COMMIT_CHECKS?: string[] | undefined;
  PUBLIC_URL?: string | undefined;
}

/** Undefined if the service writes nothing. Throws a {@link UserError} if it is configured in part. */
export function commentsConfigOf(env: CommentsEnvironment, hosts: readonly HostSite[]): CommentsConfig | undefined {
  const comments = env.PULL_REQUEST_COMMENTS ?? [];
  const checks = env.COMMIT_CHECKS ?? [];
  if (comments.length + checks.length === 0) return undefined;
  const name = comments.length > 0 ? 'PULL_REQUEST_COMMENTS' : 'COMMIT_CHECKS';
  if (env.PUBLIC_URL === undefined)
    throw new UserError(`${name} needs PUBLIC_URL: what is written at the host links to the service.`);
  if (hosts.every(({ credential }) => credential === undefined))
    throw new UserError(`${name} needs a credential of a host: HOST_APPS, or HOST_TOKENS.`);
  return { comments, checks, hosts, publicUrl: env.PUBLIC_URL.replace(/(?<!\/)\/+$/, '') };
}
