/** The red runs of the default branch: which tests turned each red, and who can do something about it. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { COMMIT_VERDICTS } from '../domain/commit-verdict.ts';
import { formatMoment } from '../domain/moment.ts';
import { HOUR_MS } from '../domain/time.ts';
import { type Http, mount } from '../http/operation.ts';
import { integerParameter } from '../http/parameters.ts';
import { onPostgres } from '../postgres/client.ts';
import { readOwners } from '../postgres/owners.ts';
import { mergedAs } from '../postgres/pull-requests.ts';
import type { Repository } from '../postgres/repositories.ts';
import { TtlCache } from '../ttl-cache.ts';
import type { Commits } from './commits.ts';
import * as common from './common.ts';
import type { FailureEvidence } from './failure-evidence.ts';
import { type CommitFailure, readCommitFailures } from './failures-of-commit.ts';
import { pullSchema, pullSummary } from './pull-summary.ts';
import type { RedRun, RunDays } from './run-days.ts';
import { type RunName, runIdOf } from './run-id.ts';
import { ID_EXAMPLE } from './run-json.ts';

const HOURS_DEFAULT = 24;
const HOURS_MAX = 7 * 24;
/** Pipelines' runs that are listed: the newest. */
const SHOWN_MAX = 20;
const TESTS_SHOWN = 5;
/** Of all readers of a repository. */
const KEPT_MS = 15_000;
const KEPT_MAX = 500;

const failedTestSchema = z.object({
  test_id: common.testIdOut,
  test_name: common.testNameOut,
  verdict: z.enum(COMMIT_VERDICTS).meta({ example: 'new' }),
  owner: z.string().nullable().meta({
    description: 'Who will repair it, by the quarantine that covers the failure',
    example: 'team-checkout',
  }),
  ticket_url: z.string().nullable().meta({
    description: 'Where that is followed, by the same quarantine',
    example: 'https://tickets.example.com/SHOP-123',
  }),
  owners: common.ownersOut(),
});
const redRunSchema = z
  .object({
    id: z.string().meta({ description: 'Names the run in addresses', example: ID_EXAMPLE }),
    pipeline_name: common.pipelineNameOut,
    commit_sha: z.string().nullable().meta({ example: '1111111111111111111111111111111111111111' }),
    started_at: common.dateTimeOut.meta({
      description: 'When the first execution of the first red run in it finished',
    }),
    pull_request: pullSchema.nullable().meta({
      description: 'The one that was merged as its commit, with its author; null if the host did not say',
    }),
    failed_tests: z.int().meta({ description: 'Tests that failed in it', example: 1 }),
    tests: z.array(failedTestSchema).meta({
      description: `The first ${TESTS_SHOWN} of them; what needs attention comes first`,
    }),
  })
  .meta({ id: 'RedRun' });
const response = z.object({
  runs_count: z.int().meta({
    description: 'Runs of the default branch in the window: each attempt of each leg once',
    example: 41,
  }),
  red_runs_count: z.int().meta({ description: 'Of these, with a failed test', example: 1 }),
  is_complete: z.boolean().meta({ description: `False if more than ${SHOWN_MAX} would be listed`, example: true }),
  red_runs: z.array(redRunSchema).meta({
    description: `The newest ${SHOWN_MAX} runs of pipelines with a red run in them: legs and attempts together`,
  }),
});
export type RedRuns = z.output<typeof response>;

type RedRunDeps = common.InsightsDeps & { commits: Commits; evidence: FailureEvidence; runDays: RunDays };

export function mountRedRuns(app: AnyElysia, http: Http, deps: RedRunDeps): void {
  const kept = new TtlCache<z.input<typeof response>>(KEPT_MS, KEPT_MAX);
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/red-runs', {
    operationId: 'listRedRuns',
    tag: common.TAG,
    summary: 'List the red runs of the default branch',
    description:
      'What broke the default branch in the last hours: its runs in which tests failed, newest first, each with the tests that turned it red, the pull request that was merged as its commit, who owns these tests, and who repairs what is quarantined. As of the last 15 seconds.',
    access: 'read',
    params: common.shortPath,
    query: {
      hours: integerParameter(1, HOURS_MAX, {
        description: 'Runs that began within as many hours.',
        default: HOURS_DEFAULT,
        example: HOURS_DEFAULT,
      }),
    },
    responses: { 200: { description: 'The red runs.', schema: response } },
    isCoalesced: true,
    handle: async ({ params: { owner, repository: name }, query: { hours = HOURS_DEFAULT } }) => {
      const repository = await deps.repositories.find(owner, name);
      if (!repository) return { body: { runs_count: 0, red_runs_count: 0, is_complete: true, red_runs: [] } };
      const body = await kept.get(`${repository.id} ${hours}`, () => readRedRuns(deps, repository, hours));
      return { body };
    },
  });
}

async function readRedRuns(deps: RedRunDeps, repository: Repository, hours: number) {
  const end = deps.clock.now() + 1;
  const start = end - hours * HOUR_MS;
  // Those of all branches: other reads have them in memory.
  const days = await deps.runDays.of(repository, { start, end, branches: [] }, { owner: repository.owner });
  const isWithin = (at: number): boolean => at >= start && at < end;
  const red = days.flatMap((day) =>
    day.red.filter(({ isOnDefault, costly }) => isOnDefault && isWithin(costly.startedAt)),
  );
  const pipelineRuns = pipelineRunsOf(red);
  const shown = pipelineRuns.slice(0, SHOWN_MAX);
  const commits = [...new Set(shown.map(({ commit }) => commit))].filter((commit) => commit !== '');
  const [pulls, ...failures] = await Promise.all([
    onPostgres(() => mergedAs(deps.db, repository.id, commits)),
    ...shown.map((run) => failuresOf(deps, repository, run)),
  ]);
  const testIds = [...new Set(failures.flatMap((failed) => failed.slice(0, TESTS_SHOWN).map(({ testId }) => testId)))];
  const owners = await onPostgres(() => readOwners(deps.db, repository.id, testIds));
  return {
    runs_count: days.flatMap(({ defaultStarts }) => defaultStarts.filter(isWithin)).length,
    red_runs_count: red.length,
    is_complete: pipelineRuns.length <= SHOWN_MAX,
    red_runs: shown.map((run, i): z.input<typeof redRunSchema> => {
      const pull = pulls.get(run.commit);
      const failed = failures[i] ?? [];
      return {
        id: runIdOf(run),
        pipeline_name: run.pipelineName,
        commit_sha: run.commit || null,
        started_at: formatMoment(run.startedAt),
        pull_request: pull ? pullSummary(pull) : null,
        failed_tests: failed.length,
        tests: failed.slice(0, TESTS_SHOWN).map((one) => ({
          test_id: one.testId,
          test_name: one.testName,
          verdict: one.verdict,
          owner: one.quarantine?.owner ?? null,
          ticket_url: one.quarantine?.ticketUrl ?? null,
          owners: owners.get(one.testId) ?? [],
        })),
      };
    }),
  };
}

/** What a pipeline ran for a commit, with a red run in it. */
interface PipelineRun extends RunName {
  /** When its first red run began; milliseconds since the epoch. */
  startedAt: number;
}

/** The newest first. */
function pipelineRunsOf(red: readonly RedRun[]): PipelineRun[] {
  const found = new Map<string, PipelineRun>();
  for (const { pipelineName, runId, costly } of red) {
    const run = { pipelineName, runId, commit: costly.commit, startedAt: costly.startedAt };
    const id = runIdOf(run);
    const known = found.get(id);
    if (!known || run.startedAt < known.startedAt) found.set(id, run);
  }
  return [...found.values()].sort((one, other) => other.startedAt - one.startedAt);
}

async function failuresOf(
  deps: RedRunDeps,
  repository: Repository,
  { commit, runId, pipelineName }: PipelineRun,
): Promise<CommitFailure[]> {
  const all = { jobs: [], branches: [], runAttempt: undefined, axes: {} };
  const only = { ...all, commit, pipelines: [pipelineName], runIds: [runId] };
  const { failures } = await readCommitFailures(deps, repository, only);
  return failures.sort((one, other) => COMMIT_VERDICTS.indexOf(one.verdict) - COMMIT_VERDICTS.indexOf(other.verdict));
}
