/** A run as the environment of a CI provider describes it, and functions that read its variables. */
import type { Axes } from '../domain/axes.ts';
import { webAddressOf } from '../domain/limits.ts';
import { isWebAddress } from './settings.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Flags that say what a run tested. */
export type SubjectFlag = 'commit' | 'branch' | 'pullRequest';

/** A part of a run that the environment cannot know, such as when a job starts on behalf of another one. */
export interface Doubt {
  /** Begins a sentence that ends with the flags. */
  why: string;
  /** One flag of each group is needed; without it nothing may be sent, because it could count for the wrong branch. */
  needs: readonly (readonly SubjectFlag[])[];
}

/** Undefined where the provider says nothing. */
export interface RunInfo {
  /** For messages: "GitHub Actions". */
  provider: string;
  owner: string | undefined;
  repository: string | undefined;
  pipelineName: string | undefined;
  jobName: string | undefined;
  /** They name the leg of a matrix. */
  axes: Axes;
  /** Which machine: its runner, and the part of a split job. */
  place: Axes;
  runId: string | undefined;
  /** Counts from 1. */
  runAttempt: number | undefined;
  commit: string | undefined;
  branch: string | undefined;
  pullRequest: number | undefined;
  /** The branch that a pull request targets. */
  baseRef: string | undefined;
  defaultBranch: string | undefined;
  /** The number of this part of a job that is split into several. */
  shard: string | undefined;
  /** Where the provider shows this job: its log. */
  jobUrl: string | undefined;
  doubt: Doubt | undefined;
  /** Sentences about variables that cannot be read. */
  warnings: readonly string[];
}

export const NOTHING: RunInfo = {
  provider: 'no CI provider',
  owner: undefined,
  repository: undefined,
  pipelineName: undefined,
  jobName: undefined,
  axes: {},
  place: {},
  runId: undefined,
  runAttempt: undefined,
  commit: undefined,
  branch: undefined,
  pullRequest: undefined,
  baseRef: undefined,
  defaultBranch: undefined,
  shard: undefined,
  jobUrl: undefined,
  doubt: undefined,
  warnings: [],
};

/** The number in a variable, or undefined if it is not a number ("false", "" and "null" are common). */
export function wholeOf(value: string | undefined): number | undefined {
  return value !== undefined && /^\d{1,10}$/.test(value) ? Number(value) : undefined;
}

/** The number of a pull request, alone or at the end of its address; undefined for 0. */
export function pullRequestOf(value: string | undefined): number | undefined {
  return wholeOf(value?.slice(value.lastIndexOf('/') + 1)) || undefined;
}

/** `refs/pull/7/merge` → 7 */
export const pullRequestOfRef = (ref: string | undefined): number | undefined =>
  pullRequestOf(/^refs\/pull\/(\d+)\//.exec(ref ?? '')?.[1]);

/** `refs/heads/main` → `main`; undefined for tags and other refs, such as `refs/pull/7/merge`. */
export function branchOf(ref: string | undefined): string | undefined {
  if (!ref) return undefined;
  if (ref.startsWith('refs/heads/')) return ref.slice('refs/heads/'.length);
  return ref.startsWith('refs/') ? undefined : ref;
}

type Path = Pick<RunInfo, 'owner' | 'repository'>;

/**
 * `acme/shop` → owner and repository. With more parts (subgroups), the first is the owner and the others are joined
 * with dots, because names contain no slash: `acme/web/shop` → `acme`, `web.shop`.
 */
export function pathOf(path: string | undefined): Path {
  const [owner, ...rest] = (path ?? '').split('/').filter((part) => part !== '');
  return rest.length > 0 ? { owner, repository: rest.join('.') } : { owner: undefined, repository: undefined };
}

/** Owner and repository of a clone URL: `git@host:acme/shop.git`, `https://user@host/acme/shop`. */
export function pathOfCloneUrl(url: string | undefined): Path {
  const path = /^(?:[\w+.-]+:\/\/[^/]+\/|[^/:]+:)(.+?)(?:\.git)?\/?$/.exec(url ?? '')?.[1];
  return pathOf(path?.replace(/^\/+/, ''));
}

/** The part of a job that is split over several machines; undefined if there is only one. */
export function shardOf(index: string | undefined, total: string | undefined): string | undefined {
  return wholeOf(index) !== undefined && (wholeOf(total) ?? 0) > 1 ? index : undefined;
}

/**
 * An address that the service takes as a link; undefined for anything else, which must not fail an upload, and for one with
 * a password.
 */
export const addressOf = (value: string | undefined): string | undefined =>
  value !== undefined && isWebAddress(value) ? (webAddressOf(value) ?? undefined) : undefined;
