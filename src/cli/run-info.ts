/** What a CI provider's environment tells about the run, and the small readers its variables need. */

export type Environment = Readonly<Record<string, string | undefined>>;

/** Everything is undefined that the provider does not say. */
export interface RunInfo {
  /** For messages: "GitHub Actions". */
  provider: string;
  owner: string | undefined;
  repository: string | undefined;
  pipelineName: string | undefined;
  jobName: string | undefined;
  runId: string | undefined;
  /** 1 for the first. */
  runAttempt: number | undefined;
  commit: string | undefined;
  branch: string | undefined;
  pullRequest: number | undefined;
  /** Of a pull request: the branch it targets. */
  baseRef: string | undefined;
  defaultBranch: string | undefined;
  /** Which of the job's parallel parts this is, when there are several. */
  shard: string | undefined;
}

export const NOTHING: RunInfo = {
  provider: 'no CI provider',
  owner: undefined,
  repository: undefined,
  pipelineName: undefined,
  jobName: undefined,
  runId: undefined,
  runAttempt: undefined,
  commit: undefined,
  branch: undefined,
  pullRequest: undefined,
  baseRef: undefined,
  defaultBranch: undefined,
  shard: undefined,
};

/** The number a variable holds, or undefined when it holds none ("false", "" and "null" are customary for that). */
export function wholeOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

/** A pull request's number: what ends its address, or what is itself a number. Zero is none. */
export function pullRequestOf(value: string | undefined): number | undefined {
  return wholeOf(value?.slice(value.lastIndexOf('/') + 1)) || undefined;
}

/** `refs/heads/main` → `main`; other refs (tags, `refs/pull/7/merge`) are no branch. */
export function branchOf(ref: string | undefined): string | undefined {
  if (!ref) return undefined;
  if (ref.startsWith('refs/heads/')) return ref.slice('refs/heads/'.length);
  return ref.startsWith('refs/') ? undefined : ref;
}

type Path = Pick<RunInfo, 'owner' | 'repository'>;

/**
 * `acme/shop` → owner and repository. A path with more parts (subgroups) keeps its first as the owner and joins the others
 * with dots, because an owner has no slash: `acme/web/shop` → `acme`, `web.shop`.
 */
export function pathOf(path: string | undefined): Path {
  const [owner, ...rest] = (path ?? '').split('/').filter((part) => part !== '');
  return rest.length > 0 ? { owner, repository: rest.join('.') } : { owner: undefined, repository: undefined };
}

/** Owner and repository of a clone address: `git@host:acme/shop.git`, `https://user@host/acme/shop`. */
export function pathOfCloneUrl(url: string | undefined): Path {
  const path = /^(?:[\w+.-]+:\/\/[^/]+\/|[^/:]+:)(.+?)(?:\.git)?\/?$/.exec(url ?? '')?.[1];
  return pathOf(path?.replace(/^\/+/, ''));
}

/** The part of a job split over several machines; undefined when there is but one. */
export function shardOf(index: string | undefined, total: string | undefined): string | undefined {
  return wholeOf(index) !== undefined && (wholeOf(total) ?? 0) > 1 ? index : undefined;
}
