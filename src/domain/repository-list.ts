/** Lists of repositories in settings: `*`, an owner, or `owner/repository`, in any case. Pure. */
import type { RepositoryName } from './repository-path.ts';

const ENTRY = /^(?:\*|[a-z0-9-]+(?:\/[a-z0-9._-]+)?)$/;

/** Undefined if the text is no list; entries are separated by commas. */
export function parseRepositoryList(text: string): string[] | undefined {
  const entries = text.split(',').map((one) => one.trim().toLowerCase());
  return entries.every((one) => ENTRY.test(one)) ? entries : undefined;
}

/** Whether a list, as {@link parseRepositoryList} gives it, names a repository. */
export const isListed = (list: readonly string[], owner: string, name: string): boolean =>
  ['*', owner, `${owner}/${name}`].some((one) => list.includes(one.toLowerCase()));

/** What the service keeps at the host of a repository. */
export const KEPT_AT_HOST = ['comment', 'check'] as const;

/** Lists of the repositories for which it does. */
export interface ListsAtHost {
  comments: readonly string[];
  checks: readonly string[];
}

export const keptAtHost = (
  { comments, checks }: ListsAtHost,
  { owner, name }: RepositoryName,
): (typeof KEPT_AT_HOST)[number][] => [
  ...(isListed(comments, owner, name) ? (['comment'] as const) : []),
  ...(isListed(checks, owner, name) ? (['check'] as const) : []),
];
