/** The service's answer about a whole commit, with all its CI jobs, as the comment shows it. */
import { z } from 'zod';
import { CLAIM_VERDICTS } from '../../domain/change-claim.ts';
import { COMMIT_VERDICTS } from '../../domain/commit-verdict.ts';
import type { CommentedCommit, CommentedFailure } from '../../domain/pull-comment.ts';
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
  failures: z.array(failureSchema),
});
const pullSchema = z.object({ commits: z.array(z.object({ commit_sha: z.string(), started_at: z.string() })) });

/** More than a comment shows. */
const FAILURES_MAX = 100;

/** Null as long as nothing of the commit has arrived. Throws a ServiceError. */
export async function commitState(repository: Repository, commit: string): Promise<CommentedCommit | null> {
  const path = `commits/${encodeURIComponent(commit)}/failures?per_page=${FAILURES_MAX}`;
  const { runs, total, summary, fewer_tests: fewer, failures } = await repository.ask(path, stateSchema);
  if (runs === 0) return null;
  return {
    commit,
    url: repository.pageOf(`commits/${encodeURIComponent(commit)}`),
    summary: summary ?? '',
    failures: failures.map((failure) => commented(failure, repository)),
    total,
    fewerTests: fewer.length,
  };
}

function commented(failure: z.infer<typeof failureSchema>, repository: Repository): CommentedFailure {
  const { claim, cause_id: cause, exception_type: type, exception_message: message } = failure;
  const said = [type, message].filter(Boolean);
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
    message: said.length === 0 ? null : message?.startsWith(type ?? '') ? message : said.join(': '),
    cause: cause ? { id: cause, url: repository.pageOf(`causes/${encodeURIComponent(cause)}`) } : null,
    url: repository.historyUrl(failure.test_id),
  };
}

/** When the first result of a commit arrived, of the newest commits of its pull request; milliseconds since the epoch. */
export async function firstResultAt(repository: Repository, commit: string, pull: number): Promise<number> {
  const { commits } = await repository.ask(`pulls/${pull}`, pullSchema);
  const found = commits.find(({ commit_sha: sha }) => sha.startsWith(commit));
  return found ? Date.parse(found.started_at) : 0;
}
