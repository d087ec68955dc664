/** Did the change cause this? A claim about each failed test of a commit or pull request, with what speaks for and against it. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { CommitRun } from '../commits/commit-record.ts';
import { axesOf } from '../domain/axes.ts';
import type { ClaimEvidence } from '../domain/change-claim.ts';
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { NAME_LENGTH_MAX, PULL_REQUEST_NUMBER_MAX } from '../domain/limits.ts';
import { type Http, mount } from '../http/operation.ts';
import { text } from '../http/text.ts';
import type { Repository } from '../postgres/repositories.ts';
import { changedPaths } from './changed-files.ts';
import { claimAbout, claimFields, claimJson } from './claim-json.ts';
import { askedOf, QUESTION_BYTES_MAX, subjectFields } from './claim-subjects.ts';
import type { Commits } from './commits.ts';
import * as common from './common.ts';
import { PULL_REQUESTS_DAYS } from './failing-elsewhere.ts';
import type { FailureEvidence } from './failure-evidence.ts';
import { type CommitFailure, NO_FAILURES, readCommitFailures } from './failures-of-commit.ts';
import { newestCommitOf, unknownPullRequest } from './pull-request.ts';

const CLAIMS_MAX = 100;
const CLAIMS_DEFAULT = 20;

const commitSha = () => text(1, NAME_LENGTH_MAX);
const question = z
  .strictObject({
    commit: commitSha().optional().meta({
      description: 'The whole id of the commit, as the runs report it',
      example: '1111111111111111111111111111111111111111',
    }),
    pull_request: z.int().min(1).max(PULL_REQUEST_NUMBER_MAX).optional().meta({
      description: 'Its newest commit on which something ran',
      example: 7,
    }),
    base_commit: commitSha().optional().meta({
      description: 'The commit that the change is based on, such as the merge base: what failed there is not its doing',
      example: '2222222222222222222222222222222222222222',
    }),
    changed_files: changedPaths()
      .default([])
      .meta({
        description:
          'Paths of the files that the change touches, from the root of the repository: it is likelier to break the tests near them. Without any, those that its jobs have sent (`…/commits/{commit_sha}/changed-files`)',
        example: ['src/shop/cart.ts'],
      }),
    pipeline_name: commitSha().optional().meta({ description: 'Only runs of this pipeline', example: 'CI' }),
    job_name: commitSha().optional().meta({ description: 'Only runs of this CI job', example: 'unit' }),
    ...subjectFields,
    limit: z.int().min(1).max(CLAIMS_MAX).default(CLAIMS_DEFAULT).meta({ description: 'At most so many claims' }),
  })
  .refine(({ commit, pull_request: pull }) => (commit === undefined) !== (pull === undefined), {
    message: 'needs either commit or pull_request',
  });

const claimOut = z
  .object({
    test_id: common.testIdOut,
    test_name: common.testNameOut,
    pipeline_name: common.pipelineNameOut,
    job_name: common.jobNameOut,
    axes: common.axesOut,
    ...claimFields,
    commit_verdict: z.enum(COMMIT_VERDICTS).meta({
      description: 'What gates go by, as `…/commits/{commit_sha}/failures` has it',
      example: 'new',
    }),
    exception_type: z.string().nullable().meta({ example: 'AssertionError' }),
    exception_message: z
      .string()
      .nullable()
      .meta({ description: 'Its first 1,000 characters', example: 'expected 3 to equal 4' }),
  })
  .meta({ id: 'TestClaim' });

const response = z.object({
  commit: z.string().meta({ example: '1111111111111111111111111111111111111111' }),
  compared_with: z
    .object({
      default_branch: z.string().nullable().meta({ example: 'main' }),
      runs: z.int().meta({ description: 'Attempts of CI jobs that are stored for the commit', example: 4 }),
      legs: z.int().meta({ description: 'Legs in which they ran', example: 3 }),
      base_commit: z.string().nullable().meta({ example: null }),
      base_runs: z.int().meta({
        description: 'Attempts of CI jobs that are stored for the base commit; 0: it could not be compared',
        example: 0,
      }),
      changed_files: z
        .int()
        .meta({ description: 'Files of the change, as the question or a job has them', example: 0 }),
      other_changes: z.int().meta({
        description:
          'Other changes that ran within the hour, of which the default branch is one; 0 if they were not needed',
        example: 5,
      }),
      other_pull_requests_days: z.int().meta({
        description: 'Other pull requests were looked at for so many days before',
        example: PULL_REQUESTS_DAYS,
      }),
    })
    .meta({ description: 'What the failures were compared with' }),
  total: z.int().meta({ description: 'Failed tests that were asked about', example: 1 }),
  claims: z.array(claimOut).max(CLAIMS_MAX).meta({ description: 'The likeliest to be the change first' }),
  not_found: z
    .array(z.object({ test: z.string().meta({ example: 'Cart > rounds' }), sentence: z.string() }))
    .meta({ description: 'Tests that were asked about, and what is not known of them', example: [] }),
});

export type Claims = z.output<typeof response>;

type ClaimDeps = common.InsightsDeps & { commits: Commits; evidence: FailureEvidence };

export function mountClaims(app: AnyElysia, http: Http, deps: ClaimDeps): void {
  mount(app, http, 'POST', '/v1/ci/:owner/repositories/:repository/claims', {
    operationId: 'checkClaims',
    tag: common.TAG,
    summary: 'Ask whether a change caused the failures of its tests',
    description:
      'Says of each failed test of a commit or pull request how likely the change caused the failure, what else explains it, and what speaks for and against that. Where it is not enough to say, the verdict is `unknown`, and `needs` says how many reruns would decide. A test is never called `flaky` unless the same code has passed. It only reads: POST, because reports and logs do not fit into an address. docs/claims.md has the rule.',
    access: 'read',
    params: common.shortPath,
    body: question,
    bodyExample: { pull_request: 7, test_names: ['Cart > totals > sums [a, b] with 10% tax'] },
    bodyBytesMax: QUESTION_BYTES_MAX,
    responses: { 200: { description: 'The claims.', schema: response } },
    handle: async ({ params: path, body }) => {
      const repository = await deps.repositories.find(path.owner, path.repository);
      const commit = body.commit ?? (await commitOfPull(deps, repository, body.pull_request ?? 0));
      const only = (name: string | undefined): string[] => (name === undefined ? [] : [name]);
      const filters = {
        ...{ commit, pipelines: only(body.pipeline_name), jobs: only(body.job_name), branches: [], runIds: [] },
        ...{ runAttempt: undefined, axes: {}, changedFiles: body.changed_files },
      };
      const found = repository ? await readCommitFailures(deps, repository, filters) : NO_FAILURES;
      const baseRuns =
        repository && body.base_commit !== undefined
          ? (await deps.commits.find(repository, body.base_commit)).runs
          : [];
      const asked = await askedOf(
        body,
        found.failures.map(({ testName }) => testName),
      );
      const context = { defaultBranch: repository?.defaultBranch ?? null, baseCommit: body.base_commit ?? null };
      const claims = found.failures
        .filter(asked.isAsked)
        .map((failure) => {
          const claim = { ...failure.claim, base: resultOnBase(failure, baseRuns) };
          return { failure, claim: claimAbout({ ...failure, claim }, context) };
        })
        .sort((one, other) => other.claim.probability - one.claim.probability);
      const answer: z.input<typeof response> = {
        commit,
        compared_with: {
          default_branch: context.defaultBranch,
          runs: found.runs.length,
          legs: new Set(found.runs.map(legOf)).size,
          base_commit: context.baseCommit,
          base_runs: baseRuns.length,
          changed_files: found.changedFiles.length,
          other_changes: Math.max(0, ...found.failures.map(({ claim }) => claim.around.changes)),
          other_pull_requests_days: PULL_REQUESTS_DAYS,
        },
        total: claims.length,
        claims: claims.slice(0, body.limit).map(({ failure, claim }) => ({
          test_id: failure.testId,
          test_name: failure.testName,
          pipeline_name: failure.pipelineName,
          job_name: failure.jobName,
          axes: axesOf(failure.axes),
          ...claimJson(claim),
          commit_verdict: failure.verdict,
          exception_type: failure.shown?.type ?? null,
          exception_message: failure.shown?.message ?? null,
        })),
        not_found: asked.missing(found.failures),
      };
      return { body: answer };
    },
  });
}

/** Throws 404 for a pull request of which nothing has run. */
async function commitOfPull(deps: ClaimDeps, repository: Repository | undefined, number: number): Promise<string> {
  const commit = repository && (await newestCommitOf(deps, repository, number));
  if (commit === undefined) throw unknownPullRequest(number);
  return commit;
}

const legOf = (run: Pick<CommitRun, 'pipeline_name' | 'job_name' | 'axes'>): string =>
  JSON.stringify([run.pipeline_name, run.job_name, run.axes]);

/** In the same leg. A run in which it is not among the failed tests has passed it: it ran there before and after. */
function resultOnBase(failure: CommitFailure, runs: readonly CommitRun[]): ClaimEvidence['base'] {
  const leg = JSON.stringify([failure.pipelineName, failure.jobName, failure.axes]);
  const ofLeg = runs.filter((run) => legOf(run) === leg && run.passed + run.failed > 0);
  const failures = ofLeg.filter((run) => run.failed_tests.includes(failure.testId)).length;
  return ofLeg.length === 0 || failure.claim.health === null ? null : { failures, passes: ofLeg.length - failures };
}
