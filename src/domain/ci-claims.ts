/**
 * Identity tokens of CI systems: which repository's job they speak for, and what they say about its run. One function for
 * each kind of CI, from the claims of a token whose signature was checked. docs/decisions.md, "Who may speak for main", says
 * why each event is trusted or not.
 */
import { z } from 'zod';
import { shortBranch } from './default-branch.ts';
import type { ClaimedRun } from './report-bounds.ts';

export const CI_KINDS = ['github', 'gitlab', 'buildkite', 'circleci'] as const;
export type CiKind = (typeof CI_KINDS)[number];

/** A CI that signs who its jobs are. */
export interface CiIssuer {
  /** How rules name it. */
  name: string;
  kind: CiKind;
  /** Exactly as its tokens name it. */
  url: string;
}

/** A job as its CI describes it. */
export interface CiJob {
  /** The repository as the CI names it, such as `acme/shop`. */
  path: string;
  /** A job of a pull request is never the default branch's. */
  isForPullRequest: boolean;
  /** Whether what started the job is a change of the branch, or someone who may change it. */
  isOfItsRef: boolean;
  /** The run as the token tells it, if its ref is what ran. */
  ofRef: ClaimedRun;
  /** The run as the token tells it, if its ref is not what ran. */
  otherwise: ClaimedRun;
  /** Names the token if the CI makes a new one each time that it is asked; undefined: steps of a job share one. */
  onceOnly: string | undefined;
}

/** Claims are short; control characters are in none. */
const CLAIM_LENGTH_MAX = 1_000;
const claim = z
  .string()
  .min(1)
  .max(CLAIM_LENGTH_MAX)
  .regex(/^[^\p{Cc}\p{Cs}]*$/u);
const optionalClaim = claim.optional().catch(undefined);

/** The job of a token; undefined if a claim is missing without which no one knows whose it is. */
export function ciJobOf(kind: CiKind, claims: unknown): CiJob | undefined {
  return READERS[kind](claims);
}

const githubSchema = z.object({
  repository: claim,
  event_name: claim,
  ref: claim,
  ref_type: optionalClaim,
  sha: optionalClaim,
  head_ref: optionalClaim,
  base_ref: optionalClaim,
  jti: claim,
});
/** The events that run what the branch holds, started by a change of it or by someone who may change it. */
const GITHUB_OWN_EVENTS = ['push', 'schedule', 'workflow_dispatch', 'merge_group'];

function github(claims: unknown): CiJob | undefined {
  const parsed = githubSchema.safeParse(claims);
  if (!parsed.success) return undefined;
  const { repository, event_name: event, ref, ref_type: type, sha, head_ref: head, base_ref: base, jti } = parsed.data;
  const pull = /^refs\/pull\/(\d{1,9})\//.exec(ref)?.[1];
  return {
    path: repository,
    isForPullRequest: event.startsWith('pull_request') || pull !== undefined,
    isOfItsRef: GITHUB_OWN_EVENTS.includes(event),
    ofRef: runOfRef({ branch: type === 'tag' ? null : branchOf(ref), commit: sha }),
    // The commit of the token is that of the merge, or the target's; the pull request's head is in no claim.
    otherwise: {
      ...(head !== undefined && { branch: shortBranch(head) }),
      ...(base !== undefined && { base_ref: shortBranch(base) }),
      ...(pull !== undefined && { pull_request: Number(pull) }),
    },
    onceOnly: jti,
  };
}

const gitlabSchema = z.object({
  project_path: claim,
  pipeline_source: claim,
  ref: claim,
  ref_type: claim,
  ref_path: optionalClaim,
  sha: optionalClaim,
});
const GITLAB_OWN_SOURCES = ['push', 'schedule', 'web'];

/** A merge request of a fork has the path of the fork. */
function gitlab(claims: unknown): CiJob | undefined {
  const parsed = gitlabSchema.safeParse(claims);
  if (!parsed.success) return undefined;
  const { project_path: path, pipeline_source: source, ref, ref_type: type, ref_path: refPath = '', sha } = parsed.data;
  const isForPullRequest =
    source === 'merge_request_event' ||
    source === 'external_pull_request_event' ||
    refPath.startsWith('refs/merge-requests/');
  return {
    path,
    isForPullRequest,
    isOfItsRef: GITLAB_OWN_SOURCES.includes(source),
    ofRef: runOfRef({ branch: type === 'branch' ? shortBranch(ref) : null, commit: sha }),
    // No claim has the number, and the commit may be that of the merge.
    otherwise: isForPullRequest && !ref.startsWith('refs/') ? { branch: ref } : {},
    onceOnly: undefined,
  };
}

const buildkiteSchema = z.object({
  organization_slug: claim,
  pipeline_slug: claim,
  build_branch: claim,
  build_tag: z.string().nullish(),
  build_commit: claim,
});

/** A build of a pull request has the branch of its head, also if that is a fork's. */
function buildkite(claims: unknown): CiJob | undefined {
  const parsed = buildkiteSchema.safeParse(claims);
  if (!parsed.success) return undefined;
  const { organization_slug, pipeline_slug, build_branch, build_tag, build_commit } = parsed.data;
  const run: ClaimedRun = {
    branch: build_tag ? null : shortBranch(build_branch),
    ...(build_commit !== 'HEAD' && { commit: build_commit }),
  };
  return {
    path: `${organization_slug}/${pipeline_slug}`,
    isForPullRequest: false,
    isOfItsRef: false,
    ofRef: run,
    otherwise: run,
    onceOnly: undefined,
  };
}

const circleciSchema = z.object({
  'oidc.circleci.com/vcs-origin': claim,
  'oidc.circleci.com/vcs-ref': claim,
});

function circleci(claims: unknown): CiJob | undefined {
  const parsed = circleciSchema.safeParse(claims);
  if (!parsed.success) return undefined;
  const { 'oidc.circleci.com/vcs-origin': origin, 'oidc.circleci.com/vcs-ref': ref } = parsed.data;
  const run: ClaimedRun = { branch: branchOf(ref) };
  return {
    // `github.com/acme/shop`
    path: origin.replace(/^(?:https?:\/\/)?[^/]+\//, '').replace(/\.git$/, ''),
    isForPullRequest: ref.startsWith('refs/pull/'),
    isOfItsRef: false,
    ofRef: run,
    otherwise: {},
    onceOnly: undefined,
  };
}

const READERS: Record<CiKind, (claims: unknown) => CiJob | undefined> = { github, gitlab, buildkite, circleci };

/** `refs/heads/main` → `main`; null for tags and other refs. */
const branchOf = (ref: string): string | null => (ref.startsWith('refs/heads/') ? shortBranch(ref) : null);

/** A job that runs what its ref holds tests no pull request, whatever it says. */
const runOfRef = ({ branch, commit }: { branch: string | null; commit: string | undefined }): ClaimedRun => ({
  branch,
  ...(commit !== undefined && { commit }),
  pull_request: null,
  base_ref: null,
});
