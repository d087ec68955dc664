/** The service's answer about a whole commit, with all its CI jobs, as the comment shows it. */
import { z } from 'zod';
import { CLAIM_VERDICTS } from '../../domain/change-claim.ts';
import { COMMIT_VERDICTS } from '../../domain/commit-verdict.ts';
import { type CommentedCommit, type CommentedFailure, saidOf } from '../../domain/pull-comment.ts';
import type { Repository } from '../repository.ts';

const reasonsSchema = z.array(z.object({ sentence: z.string() }));
const failureSchema = z.object({
  // Words of a newer service excuse and decide nothing.
  verdict: z.enum(COMMIT_VERDICTS).catch('new'),
  test_id: z.string(),
  test_name: z.string(),
  job_name: z.string(),
  owners: z.array(z.string()).nullish(),
  exception_type: z.string().nullish(),
  exception_message: z.string().nullish(),
  cause_id: z.string().nullish(),
  failed_at: z.string(),
  claim: z.object({
    verdict: z.enum(CLAIM_VERDICTS).catch('unknown'),
    probability: z.number(),
    for: reasonsSchema,
    against: reasonsSchema,
    needs: z.object({ sentence: z.string() }).nullable(),
  }),
});
const stateSchema = z.object({
  runs: z.number(),
  total: z.number(),
  summary: z.string().nullable(),
  fewer_tests: z.array(z.unknown()).default([]),
  kept_by_service: z.array(z.string()).default([]),
  failures: z.array(failureSchema),
});
const pullSchema = z.object({
  commented_commit: z.string().nullish(),
  commits: z.array(z.object({ commit_sha: z.string(), started_at: z.string() })),
});

/** More than a comment shows. */
const FAILURES_MAX = 100;

interface StateForHost extends CommentedCommit {
  /** `comment`, `check`: the service writes them at the host itself. */
  keptByService: readonly string[];
}

/** Null as long as nothing of the commit has arrived. Throws a ServiceError. */
export async function commitState(repository: Repository, commit: string): Promise<StateForHost | null> {
  const path = `commits/${encodeURIComponent(commit)}/failures?per_page=${FAILURES_MAX}`;
  const answer = await repository.ask(path, stateSchema);
  const { runs, total, summary, fewer_tests: fewer, failures } = answer;
  if (runs === 0) return null;
  return {
    commit,
    url: repository.pageOf(`commits/${encodeURIComponent(commit)}`),
    summary: summary ?? '',
    failures: failures.map((failure) => commented(failure, repository)),
    total,
    fewerTests: fewer.length,
    keptByService: answer.kept_by_service,
  };
}

function commented(failure: z.infer<typeof failureSchema>, repository: Repository): CommentedFailure {
  const { claim, cause_id: cause, exception_type: type, exception_message: message } = failure;
  return {
    testName: failure.test_name,
    jobName: failure.job_name,
    verdict: failure.verdict,
    claim: {
      verdict: claim.verdict,
      probability: claim.probability,
      for: claim.for.map(({ sentence }) => sentence),
      against: claim.against.map(({ sentence }) => sentence),
      needs: claim.needs?.sentence ?? null,
    },
    owners: failure.owners ?? [],
    message: saidOf(type, message),
    cause: cause ? { id: cause, url: repository.pageOf(`causes/${encodeURIComponent(cause)}`) } : null,
    url: repository.historyUrl(failure.test_id),
  };
}

/** The comment of a pull request, as far as it is known, on one of its commits. */
interface CommentBefore {
  /** Whether a job has written or found it on this commit. */
  wasThere: boolean;
  /** When the first result of the commit arrived, of the newest ones; 0 if it is not among them. Milliseconds since the epoch. */
  firstResultAt: number;
}

export async function commentBefore(repository: Repository, commit: string, pull: number): Promise<CommentBefore> {
  const { commented_commit: commented, commits } = await repository.ask(`pulls/${pull}`, pullSchema);
  const found = commits.find(({ commit_sha: sha }) => sha.startsWith(commit));
  return { wasThere: commented === commit, firstResultAt: found ? Date.parse(found.started_at) : 0 };
}
