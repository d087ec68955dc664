/** The failed tests of a commit, each with a verdict: is this commit the cause? */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { axesOf } from '../domain/axes.ts';
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { totalsOf } from '../domain/failure-group.ts';
import { UINT32_MAX } from '../domain/limits.ts';
import { formatMoment } from '../domain/moment.ts';
import { KEPT_AT_HOST, keptAtHost } from '../domain/repository-list.ts';
import { reproduceCommand } from '../domain/reproduce-command.ts';
import { HEALTHS } from '../domain/status.ts';
import { TROUBLE_SIGNS } from '../domain/trouble-elsewhere.ts';
import { type FailsWith, failsWithSchema } from '../explain/fails-with-schema.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import {
  axesParameter,
  branchesParameter,
  cursorParameter,
  enumsParameter,
  integerParameter,
  perPageParameter,
} from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import { readOwners } from '../postgres/owners.ts';
import type { Repository } from '../postgres/repositories.ts';
import { causeIdOut } from './cause-schemas.ts';
import { causesOfFailures } from './causes-of-failures.ts';
import { claimAbout, claimJson, claimSchema } from './claim-json.ts';
import { type Commits, FAILED_TESTS_MAX } from './commits.ts';
import * as common from './common.ts';
import { PULL_REQUESTS_DAYS } from './failing-elsewhere.ts';
import type { FailureEvidence } from './failure-evidence.ts';
import { summaryOf, verdictCounts } from './failure-summary.ts';
import { type CommitFailure, NO_FAILURES, readCommitFailures } from './failures-of-commit.ts';
import { rowsBeyond } from './pages-in-memory.ts';
import { fewerTestsJson, fewerTestsSchema, type UsualTestsOfJobs } from './usual-tests.ts';
import { EXPLAINED_MAX, type WhereTheyFail } from './where-they-fail.ts';

const pagedFailures: PagedList<CommitFailure, [rank: number, ...names: string[]]> = {
  name: 'commit-failures',
  keySchema: z.tuple([z.int(), z.string(), z.string(), z.string()]),
  keyOf: ({ verdict, testName, pipelineName, jobName }) => [
    COMMIT_VERDICTS.indexOf(verdict),
    testName,
    pipelineName,
    jobName,
  ],
};

const count = (description: string, example: number) => z.int().meta({ description, example });
const evidenceSchema = z.object({
  health_status: z.enum(HEALTHS).nullable().meta({
    description:
      'Of the test on the default branch when it failed here, in this pipeline and CI job if it runs there; null: it never ran',
    example: 'healthy',
  }),
  health_began_at: common.dateTimeOut.nullable().meta({
    description: 'When the test first failed on the default branch of the time that it was flaky or broken there',
    example: null,
  }),
  health_ended_at: common.dateTimeOut.nullable().meta({
    description: 'When it was healthy there again; null: it was healthy, or still is not',
    example: null,
  }),
  default_branch_failures: count('Failures of this group that are stored for the default branch', 0),
  default_branch_first_failure_at: common.dateTimeOut.nullable().meta({ example: null }),
  default_branch_last_failure_at: common.dateTimeOut.nullable().meta({ example: null }),
  commit_failures: count('How often the test failed on this commit, in this pipeline and CI job', 1),
  commit_passes: count('How often it passed there, such as when the job ran again', 0),
  failing_pull_requests: z
    .int()
    .nullable()
    .meta({
      description: `Other pull requests on which the test failed too, in the ${PULL_REQUESTS_DAYS} days before this commit ran and the hour after; null if something else explains the failure, or that cannot be read now`,
      example: 0,
    }),
  trouble: z
    .object({
      sign: z.enum(TROUBLE_SIGNS).meta({
        description:
          '`run`: nearly everything failed in its run. `same_failures`: it failed in the same way for others within 12 hours, as did other tests of the run. `same_message`: tests of others failed with the same message within the hour. `rerun`: nearly all that failed in the run passed when the job ran again.',
        example: 'same_failures',
      }),
      other_changes: count('Other changes that show it; pull requests of one author are one', 3),
      on_default_branch: z.boolean().meta({ description: 'Whether the default branch shows it, too', example: false }),
    })
    .nullable()
    .meta({ description: 'Why the infrastructure is the likelier cause; null for other verdicts', example: null }),
  run_failed: count('Failed executions of the run', 1),
  run_passed: count('Passed executions of the run', 211),
  quarantine_id: z.guid().nullable().meta({ description: 'The quarantine that covers the failure', example: null }),
});
const LEGS_MAX = 100;
const failureSchema = z
  .object({
    verdict: z.enum(COMMIT_VERDICTS).meta({ example: 'new' }),
    test_id: common.testIdOut,
    test_name: common.testNameOut,
    pipeline_name: common.pipelineNameOut,
    job_name: common.jobNameOut,
    owners: common.ownersOut(),
    branch: z.string().nullable().meta({ example: 'feature/rounding' }),
    pull_request: z.int().nullable().meta({ example: 7 }),
    run_id: z.string().meta({ description: 'As the CI provider names the run', example: '1001' }),
    run_attempt: z.int().meta({ example: 1 }),
    job_url: z.string().nullable().meta({ example: 'https://ci.example.com/runs/1001' }),
    failed_at: common.dateTimeOut,
    failure_id: z.guid().nullable().meta({ example: '1c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c12' }),
    exception_type: z.string().nullable().meta({ example: 'AssertionError' }),
    exception_message: z
      .string()
      .nullable()
      .meta({ description: 'Its first 1,000 characters', example: 'expected 3 to equal 4' }),
    cause_id: causeIdOut.nullable().meta({
      description:
        'What the failure has in common with others of the default branch; null if nothing there failed like it',
    }),
    attachments: common.attachmentsOut,
    reproduce: common.reproduceOut,
    evidence: evidenceSchema,
    claim: claimSchema.meta({
      description:
        'How likely the change caused it, with what speaks for and against that (docs/claims.md). The verdict above is what gates go by',
    }),
    fails_with: failsWithSchema.nullable().meta({
      description: `Which axis explains the failures of the test in the last 30 days; null for a test that ran in one leg, or has not failed on the default branch, and beyond the first ${EXPLAINED_MAX} such tests of a page`,
    }),
    legs: z
      .array(
        z.object({
          axes: common.axesOut,
          verdict: z.enum(COMMIT_VERDICTS).meta({ example: 'new' }),
          health_status: z
            .enum(HEALTHS)
            .nullable()
            .meta({ description: 'On the default branch when it failed here', example: 'healthy' }),
          failures: z.int().meta({ example: 1 }),
          passes: z.int().meta({ example: 0 }),
          job_url: z.string().nullable().meta({ example: 'https://ci.example.com/runs/1001' }),
        }),
      )
      .max(LEGS_MAX)
      .meta({
        description: `The legs of the CI job in which it failed, by verdict: at most ${LEGS_MAX}. The entry describes the first one, and counts all`,
      }),
  })
  .meta({ id: 'CommitFailure' });

const response = z.object({
  ...common.pageFields,
  runs: count('Attempts of CI jobs that are stored for the commit; 0: nothing has arrived yet', 4),
  total: count(`Failed tests on all pages; of more than ${FAILED_TESTS_MAX} tests, that many are judged`, 1),
  verdicts: z
    .object(Object.fromEntries(COMMIT_VERDICTS.map((verdict) => [verdict, z.int()])))
    .meta({ description: 'How many failed tests have each verdict, on all pages', example: exampleCounts() }),
  summary: z.string().nullable().meta({
    description:
      'What failed in one sentence: whether it is the change, and whether a gate passes that excuses only what is quarantined. Null as long as nothing has arrived',
    example: 'Probably your change: 1 failure, new; the gate fails.',
  }),
  fewer_tests: z.array(fewerTestsSchema).meta({
    description:
      'Attempts of CI jobs that ran far fewer tests than usual, as when the runner stops at the first failure: what did not run has no verdict',
    example: [],
  }),
  kept_by_service: z.array(z.enum(KEPT_AT_HOST)).meta({
    description:
      'What the service itself keeps at the host: the comment on the pull request, the check of the commit. `gate` leaves it to the service',
    example: [],
  }),
  failures: z.array(failureSchema),
});

export type CommitFailures = z.output<typeof response>;

function exampleCounts(): Record<string, number> {
  return Object.fromEntries(COMMIT_VERDICTS.map((verdict) => [verdict, verdict === 'new' ? 1 : 0]));
}

const address = '/v1/ci/:owner/repositories/:repository/commits/:commit_sha/failures';

export function mountCommitFailures(
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & {
    commits: Commits;
    evidence: FailureEvidence;
    usualTests: UsualTestsOfJobs;
    whereTheyFail: WhereTheyFail;
  },
): void {
  mount(app, http, 'GET', address, {
    operationId: 'listCommitFailures',
    tag: common.TAG,
    summary: 'List the failed tests of a commit with a verdict on each',
    description:
      'Says of each test that failed on a commit, on any branch, whether the commit is the likely cause: `new` (the default branch had not failed like this before, or the test was healthy there), `broken` or `known_flaky` (it was so on the default branch when it failed here, and had failed in the same way there before), `infrastructure` (the test had passed before, and trouble is the likelier cause: nearly everything failed in the run, or others met the same failures or messages at the time, or nearly all passed when the job ran again; `evidence.trouble` says which), `quarantined`. A verdict does not change when the default branch is fixed. New failures come first.',
    access: 'read',
    params: common.commitPath,
    query: {
      verdict: enumsParameter(COMMIT_VERDICTS, { description: 'Only failures with these verdicts.', example: ['new'] }),
      pipeline_name: common.namesParameter('Only runs of these pipelines.', ['CI']),
      job_name: common.namesParameter('Only runs of these CI jobs.', ['unit']),
      branch: branchesParameter({ description: 'Only runs of these branches.', example: ['feature/rounding'] }),
      run_id: common.namesParameter('Only runs with these ids, as the CI provider names them.', ['1001']),
      run_attempt: integerParameter(1, UINT32_MAX, {
        description: 'Only this attempt of the runs: how a job that ran again failed this time.',
        example: 1,
      }),
      axis: axesParameter({
        description: 'Only runs of legs with these values of axes, as `name:value`.',
        example: ['os:windows'],
      }),
      cursor: cursorParameter(),
      per_page: perPageParameter(),
    },
    responses: { 200: { description: 'A page of failed tests.', schema: response, headers: LINK } },
    isCoalesced: true,
    handle: async ({ params: path, query, url, signal }) => {
      const { verdict: verdicts, pipeline_name: pipelines, job_name: jobs, branch: branches, run_id: runIds } = query;
      const axes = query.axis ?? {};
      const filters = {
        commit: path.commit_sha,
        pipelines,
        jobs,
        branches,
        runIds,
        runAttempt: query.run_attempt,
        axes,
      };
      const repository = await deps.repositories.find(path.owner, path.repository);
      const found = repository ? await readCommitFailures(deps, repository, filters, signal) : NO_FAILURES;
      const listed = found.failures.filter(({ verdict }) => verdicts.length === 0 || verdicts.includes(verdict));
      const asked = {
        path,
        query,
        filters: { ...filters, verdicts },
        window: noWindow,
        url: publicUrlOf(http.publicUrl, url),
      };
      const page = await readPage(pagedFailures, asked, async ({ key, direction, perPage }) =>
        rowsBeyond(listed, pagedFailures.keyOf, { key, isForward: direction === 'next', limit: perPage + 1 }),
      );
      const fewer = repository ? await deps.usualTests.fewer(repository, found.runs) : [];
      const ids = page.items.map(({ testId }) => testId);
      const owners = await ownersOf(deps, repository, ids);
      const where = repository ? await deps.whereTheyFail.of(repository, page.items) : undefined;
      const causes = repository ? await causesOfFailures(deps, repository, page.items) : undefined;
      const reply = pageReply(page, 'failures', (failure) =>
        toJson(failure, {
          failsWith: where?.get(failure.testId),
          owners: owners.get(failure.testId) ?? [],
          causeId: causes?.get(failure),
          defaultBranch: repository?.defaultBranch ?? null,
        }),
      );
      const counts = verdictCounts(found.failures);
      const summary =
        repository && found.runs.length > 0
          ? summaryOf(found.failures, repository.defaultBranch, deps.clock.now())
          : null;
      const kept = repository && deps.keptAtHost ? keptAtHost(deps.keptAtHost, repository) : [];
      const body = { runs: found.runs.length, total: listed.length, verdicts: counts, summary };
      return {
        ...reply,
        body: { ...reply.body, ...body, fewer_tests: fewer.map(fewerTestsJson), kept_by_service: kept },
      };
    },
  });
}

const momentOf = (ms: number | null | undefined): string | null => (ms == null ? null : formatMoment(ms));

/** Tests that never ran on the default branch have none. */
async function ownersOf(
  { db }: common.InsightsDeps,
  repository: Repository | undefined,
  testIds: readonly string[],
): Promise<ReadonlyMap<string, string[]>> {
  return repository ? onPostgres(() => readOwners(db, repository.id, [...new Set(testIds)])) : new Map();
}

function toJson(
  failure: CommitFailure,
  {
    failsWith,
    owners,
    causeId,
    defaultBranch,
  }: {
    failsWith: FailsWith | undefined;
    owners: string[];
    causeId: string | undefined;
    defaultBranch: string | null;
  },
): z.input<typeof failureSchema> {
  const { run, shown, known, trouble } = failure;
  return {
    verdict: failure.verdict,
    test_id: failure.testId,
    test_name: failure.testName,
    pipeline_name: failure.pipelineName,
    job_name: failure.jobName,
    owners,
    branch: run.branch || null,
    pull_request: run.pull_request || null,
    run_id: run.run_id,
    run_attempt: run.run_attempt,
    job_url: run.job_url || null,
    failed_at: formatMoment(failure.failedAt),
    failure_id: shown?.id ?? null,
    exception_type: shown?.type ?? null,
    exception_message: shown?.message ?? null,
    cause_id: causeId ?? null,
    fails_with: failsWith ?? null,
    attachments: failure.attachments,
    reproduce:
      failure.facts &&
      reproduceCommand({ name: failure.testName, ...failure.facts, project: axesOf(failure.axes).project }),
    claim: claimJson(claimAbout(failure, { defaultBranch, baseCommit: null })),
    evidence: {
      health_status: failure.episode?.health ?? null,
      health_began_at: momentOf(failure.episode?.beganAt),
      health_ended_at: momentOf(failure.episode?.endedAt),
      default_branch_failures: known ? totalsOf(known).failures : 0,
      default_branch_first_failure_at: known ? formatMoment(totalsOf(known).firstAt) : null,
      default_branch_last_failure_at: known ? formatMoment(known.newest.failedAt) : null,
      commit_failures: failure.failures,
      commit_passes: failure.passes,
      failing_pull_requests: failure.failingPullRequests,
      trouble: trouble && {
        sign: trouble.sign,
        other_changes: trouble.changes,
        on_default_branch: trouble.isOnDefaultBranch,
      },
      run_failed: run.failed,
      run_passed: run.passed,
      quarantine_id: failure.quarantine?.id ?? null,
    },
    legs: failure.legs.slice(0, LEGS_MAX).map((leg) => ({
      axes: axesOf(leg.axes),
      verdict: leg.verdict,
      health_status: leg.episode?.health ?? null,
      failures: leg.failures,
      passes: leg.passes,
      job_url: leg.run.job_url || null,
    })),
  };
}
