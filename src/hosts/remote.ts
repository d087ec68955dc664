/**
 * A repository at its host, as a token of the service or of a CI job sees it: what is read there of changes and owners, and
 * what is written. Each kind of host has one in its folder.
 */
import type { CheckHost } from './writes/check-host.ts';
import type { CommentHost } from './writes/comment-host.ts';

export interface RemotePlace {
  /** Of the REST API, without a trailing slash. */
  apiUrl: string;
  token: string;
  /** Of the repository, as the API names it: `acme/shop`, `acme/web/shop`, or the number of a project of GitLab. */
  path: string;
  /** Of the job that writes: GitLab's statuses belong to a pipeline, which a fork may run. Undefined: the newest of the commit. */
  pipeline?: { project: string; id: string | undefined } | undefined;
}

export interface PullToRead {
  number: number;
  /** The commit that is asked about. */
  commit: string;
}

export interface HostCodeowners {
  /** From the root of the repository. */
  path: string;
  content: string;
}

/** Every method throws a HostError, at once or when its result is used. */
export interface RemoteRepository {
  comments(number: number): CommentHost;
  /**
   * @param commit its whole id
   * @param key markerKey
   */
  check(commit: string, key: string): CheckHost;
  /**
   * The paths that a pull request changes, compared with where it left the branch that it is for; a renamed file has both.
   * Undefined if its newest commit is another one by now.
   */
  changedFiles(pull: PullToRead): Promise<string[] | undefined>;
  /** Reads that of the default branch. Undefined if there is none that can be read. */
  codeowners(): Promise<HostCodeowners | undefined>;
}

/** Some hosts abbreviate ids of commits, and some jobs do. */
export const isSameCommit = (one: string, other: string): boolean => one.startsWith(other) || other.startsWith(one);
