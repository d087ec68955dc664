/**
 * Where a repository is shown to people: its page on its host, and the pages of its commits, files and pull requests. Each
 * kind of host is a line here and a file beside this one.
 */
import { z } from 'zod';
import { webAddressOf } from '../limits.ts';
import type { RepositoryName } from '../repository-path.ts';
import { gitea } from './gitea.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import type { HostKind, LinkTemplates } from './host-kind.ts';

const HOSTS = { github, gitlab, gitea } as const satisfies Record<string, HostKind>;

export type HostKindName = keyof typeof HOSTS;
export const HOST_KINDS = ['github', 'gitlab', 'gitea'] as const satisfies readonly HostKindName[];

const URL_BYTES_MAX = 1_000;
const URL_ERROR = `must be an address with http or https and at most ${URL_BYTES_MAX} bytes, without password, ? and #`;

/** A repository on its host. */
export const hostPageSchema = z.object({
  kind: z.enum(HOST_KINDS, { error: `must be one of ${HOST_KINDS.join(', ')}` }).meta({ example: 'github' }),
  url: z
    .string({ error: URL_ERROR })
    .refine(isPlainAddress, { error: URL_ERROR })
    .meta({ description: 'The address of the repository there', example: 'https://github.example.com/acme/shop' }),
});
export type HostPage = z.infer<typeof hostPageSchema>;

function isPlainAddress(address: string): boolean {
  if (webAddressOf(address) === null || Buffer.byteLength(address) > URL_BYTES_MAX || /[?#{}]/.test(address))
    return false;
  const url = URL.parse(address);
  return url !== null && url.username === '' && url.password === '';
}

/**
 * Who says where a repository is shown, from the weakest to the strongest. An upload says it once, while no one has: who
 * may send results could lead everyone elsewhere with it.
 */
export const HOST_SOURCES = ['upload', 'identity_token', 'webhook', 'setting'] as const;
export type HostSource = (typeof HOST_SOURCES)[number];

/** Whether what a source says replaces what is known. */
export const overrulesHost = (source: HostSource, known: HostSource | null): boolean =>
  known === null || (source === 'upload' ? false : HOST_SOURCES.indexOf(source) >= HOST_SOURCES.indexOf(known));

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
