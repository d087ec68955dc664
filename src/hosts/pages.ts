/** Where a repository is shown to people: its page on its host, and the pages of its commits, files and pull requests. */
import { HOST_KINDS, type HostKindName, type HostPage, isPlainAddress } from '../domain/host-page.ts';
import type { RepositoryName } from '../domain/repository-path.ts';
import type { LinkTemplates } from './host.ts';
import { HOSTS } from './hosts.ts';

/** The page of a repository, from the address of one of its CI jobs; undefined if that tells none. */
export function hostOfJob(jobUrl: string | null | undefined, repository: RepositoryName): HostPage | undefined {
  if (!jobUrl) return undefined;
  for (const kind of HOST_KINDS) {
    const { jobMark } = HOSTS[kind];
    const end = jobMark === undefined ? -1 : jobUrl.indexOf(jobMark);
    const page = end === -1 ? undefined : pageAt(kind, jobUrl.slice(0, end), repository);
    if (page) return page;
  }
  return undefined;
}

/** The page of a repository, from who signs the identity tokens of its CI jobs and how these name it. */
export function hostOfIssuer(
  { kind, url }: { kind: string; url: string },
  path: string,
  repository: RepositoryName,
): HostPage | undefined {
  const found = HOST_KINDS.find((one) => one === kind);
  const host = found && HOSTS[found].ofIssuer(withoutEndSlashes(url));
  return found && host !== undefined ? pageAt(found, `${host}/${path}`, repository) : undefined;
}

/** A web address, if its path ends with that of the repository. */
function pageAt(kind: HostKindName, address: string, { owner, name }: RepositoryName): HostPage | undefined {
  const url = isPlainAddress(address) && URL.parse(address);
  if (!url) return undefined;
  const parts = url.pathname.split('/').filter((part) => part !== '');
  // A host may lie below a path, and a repository in groups: the client joins their names with dots.
  const isThis = parts.some((_, i) => {
    const [first, ...rest] = parts.slice(i);
    return rest.length > 0 && isSame(first ?? '', owner) && isSame(rest.join('.'), name);
  });
  return isThis ? { kind, url: `${url.origin}/${parts.join('/')}` } : undefined;
}

/** Slash by slash: a pattern would look at a long row of them again from each. */
function withoutEndSlashes(url: string): string {
  let end = url.length;
  while (url[end - 1] === '/') end--;
  return url.slice(0, end);
}

const isSame = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Templates of links, with the address of the repository in them. */
export function linksOf({ kind, url }: HostPage): LinkTemplates {
  const { commit, compare, file, line, pull_request } = HOSTS[kind].links;
  const at = (template: string): string => template.replace('{url}', withoutEndSlashes(url));
  return {
    commit: at(commit),
    compare: at(compare),
    file: at(file),
    line: at(line),
    pull_request: at(pull_request),
  };
}
