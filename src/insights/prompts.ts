/** A test, a cause or a failure of a commit as a prompt for a coding agent. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type AgentPrompt, PROMPT_TOKENS_MAX, type PromptFailure, promptOf } from '../domain/agent-prompt.ts';
import { axesWords } from '../domain/axes-in-words.ts';
import { totalsOf } from '../domain/failure-group.ts';
import { confidenceOfTest } from '../domain/health-confidence.ts';
import { linkTo } from '../domain/host-link.ts';
import { formatMoment } from '../domain/moment.ts';
import { recentCounts } from '../domain/ratio-window.ts';
import { countedIdentities, healthOfTest } from '../domain/test-state.ts';
import { DAY_MS } from '../domain/time.ts';
import { tokensOf } from '../domain/told-text.ts';
import { linksOf } from '../hosts/pages.ts';
import { type Http, mount } from '../http/operation.ts';
import { publicUrlOf } from '../http/pages.ts';
import { uuid5 } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import { onPostgres } from '../postgres/client.ts';
import { newestFailureGroups } from '../postgres/failure-groups.ts';
import { hostPageOf, type Repository } from '../postgres/repositories.ts';
import { beginningOf, type CauseDeps, type CausePage, readCausePage } from './cause.ts';
import type { Commits } from './commits.ts';
import * as common from './common.ts';
import { readCommitFailures } from './failures-of-commit.ts';
import { newestFailed, type TestExecution } from './history.ts';

const GROUPS_MAX = 4;
/** How far back the newest failure is looked for. */
const DAYS_MAX = 90;

const response = z
  .object({
    text: z.string().meta({
      description: `At most ${PROMPT_TOKENS_MAX} tokens. What tests, commits and people told the service stands between ⟦ and ⟧`,
      example: 'Find out why this test fails, and fix the test or the code.',
    }),
    tokens: z
      .int()
      .meta({ description: 'How many tokens it takes, by a rule of thumb that errs upwards', example: 640 }),
  })
  .meta({ id: 'AgentPrompt' });
export type PromptAnswer = z.output<typeof response>;

const responses = { 200: { description: 'The prompt.', schema: response } };
const answerOf = (prompt: AgentPrompt) => {
  const text = promptOf(prompt);
  return { body: { text, tokens: tokensOf(text) } };
};
const DESCRIPTION =
  'For a coding agent: what failed, how often, where it began, and where to read more. Text that tests, commits and people told the service is marked as data.';

export function mountPrompts(app: AnyElysia, http: Http, deps: CauseDeps & { commits: Commits }): void {
  const addressOf = (url: URL): { service: string; api: string } => {
    const api = publicUrlOf(http.publicUrl, url).href.replace(/\/prompt(?:\?.*)?$/, '');
    return { service: api.slice(0, api.indexOf('/v1/')), api };
  };

  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/prompt', {
    operationId: 'getTestPrompt',
    tag: common.TAG,
    summary: 'Get a test as a prompt',
    description: DESCRIPTION,
    access: 'read',
    params: common.testPath,
    responses,
    isCoalesced: true,
    handle: async ({ params: path, url, signal }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const test = await deps.knownTests.get(repository, testId);
      const now = deps.clock.now();
      const [groups, failed] = await Promise.all([
        onPostgres(() => newestFailureGroups(deps.db, repository.id, [testId], GROUPS_MAX)),
        newestFailed(deps, repository, { testId, window: windowTo(now) }, signal),
      ]);
      const known = (groups.get(testId) ?? []).map(({ newest, ...group }) => ({ newest, ...totalsOf(group) }));
      const newest = known[0];
      const beginning =
        newest &&
        (await beginningOf(deps, repository, { testId, testName: test.name, beganAt: newest.firstAt }, signal));
      const counts = recentCounts(
        test.identities.map(({ summary }) => summary),
        now,
      );
      const health = healthOfTest(test.identities);
      const beliefs = countedIdentities(test.identities).map(({ health: status, belief }) => ({
        health: status,
        ...belief,
      }));
      const { service, api } = addressOf(url);
      return answerOf({
        kind: 'test',
        testName: test.name,
        health,
        probability: confidenceOfTest(health, beliefs).probability,
        executions: counts.passed + counts.failed,
        failed: counts.failed,
        groups: known.map((group) => ({
          exceptionType: group.newest.exceptionType,
          exceptionMessage: group.newest.exceptionMessage,
          failures: group.failures,
          lastAt: formatMoment(group.newest.failedAt),
        })),
        owners: test.owners,
        ...sharedOf(repository, {
          failed,
          beginning,
          page: `${service}/app/${pathOf(repository)}/tests/${testId}`,
          more: api,
        }),
      });
    },
  });

  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/causes/:cause_id/prompt', {
    operationId: 'getCausePrompt',
    tag: common.TAG,
    summary: 'Get a cause as a prompt',
    description: DESCRIPTION,
    access: 'read',
    params: common.shortPath.extend({
      cause_id: uuid5('The cause, as returned by the list of causes.', '6b1f2a52-4dd6-5a3e-9a75-0b2f1d9d3c14'),
    }),
    responses,
    isCoalesced: true,
    handle: async ({ params: path, url, signal }) => {
      const cause = await readCausePage(deps, path, signal);
      const repository = await deps.repositories.find(path.owner, path.repository);
      if (!repository) throw notFound('There is no such repository.');
      const { newest_failure: newest } = cause;
      const at = Date.parse(newest.failed_at);
      const failed = await newestFailed(
        deps,
        repository,
        { testId: newest.test.test_id, window: { start: at - DAY_MS, end: at + DAY_MS } },
        signal,
      );
      const { service, api } = addressOf(url);
      return answerOf({
        kind: 'cause',
        failures: cause.failure_count,
        tests: cause.tests.map((test) => ({ name: test.test_name, failures: test.failure_count })),
        testCount: cause.test_count,
        legCount: cause.leg_count,
        firstAt: cause.first_failure_at,
        lastAt: cause.last_failure_at,
        owners: cause.owner === null ? cause.owners : [cause.owner, ...cause.owners],
        ...sharedOf(repository, {
          failed,
          beginning: cause.beginning,
          page: `${service}/app/${pathOf(repository)}/causes/${cause.cause_id}`,
          more: api,
        }),
      });
    },
  });

  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/commits/:commit_sha/failures/:test_id/prompt', {
    operationId: 'getCommitFailurePrompt',
    tag: common.TAG,
    summary: 'Get a failure of a commit as a prompt',
    description: DESCRIPTION,
    access: 'read',
    params: common.commitPath.extend({
      test_id: uuid5('The test that failed.', '8c0f1a52-4dd6-5a3e-9a75-0b2f1d9d3c11'),
    }),
    responses,
    isCoalesced: true,
    handle: async ({ params: path, url, signal }) => {
      const unknown = () => notFound('This test has not failed on this commit. What failed is listed at …/failures.');
      const repository = await deps.repositories.find(path.owner, path.repository);
      if (!repository) throw unknown();
      const { failures } = await readCommitFailures(
        deps,
        repository,
        { commit: path.commit_sha, ...EVERYWHERE },
        signal,
      );
      const failure = failures.find(({ testId }) => testId === path.test_id);
      if (!failure) throw unknown();
      const failed = await newestFailed(
        deps,
        repository,
        {
          testId: path.test_id,
          window: { start: failure.failedAt - DAY_MS, end: failure.failedAt + DAY_MS },
          commits: [path.commit_sha],
        },
        signal,
      );
      const { service } = addressOf(url);
      return answerOf({
        kind: 'commit failure',
        testName: failure.testName,
        verdict: failure.verdict,
        failuresOnDefaultBranch: failure.known ? totalsOf(failure.known).failures : 0,
        passesOnCommit: failure.passes,
        failuresOnCommit: failure.failures,
        owners: [],
        ...sharedOf(repository, {
          failed,
          beginning: undefined,
          // Not that of the commit, whose name someone told us.
          page: `${service}/app/${pathOf(repository)}/tests/${path.test_id}`,
          more: `${service}/v1/ci/${repository.owner}/repositories/${repository.name}/tests/${path.test_id}`,
        }),
      });
    },
  });
}

/** No filter of what failed on a commit. */
const EVERYWHERE = { pipelines: [], jobs: [], branches: [], runIds: [], runAttempt: undefined, axes: {} };

const windowTo = (now: number) => ({ start: now - DAYS_MAX * DAY_MS, end: now + 1 });
const pathOf = ({ owner, name }: Repository): string => `${owner}/${name}`;

interface Known {
  failed: TestExecution | undefined;
  beginning: CausePage['beginning'] | undefined;
  page: string;
  more: string;
}

/** What prompts of every kind have. */
function sharedOf(repository: Repository, { failed, beginning, page, more }: Known) {
  const host = hostPageOf(repository);
  const templates = host && linksOf(host);
  const failure = failed && failureOf(failed);
  const link = (template: string | undefined, values: Parameters<typeof linkTo>[1]): string | null =>
    (template && linkTo(template, values)) || null;
  const commit = failed?.commit_sha ?? undefined;
  const place = { commit, path: failure?.file ?? undefined, line: failure?.line ?? undefined };
  return {
    repository: pathOf(repository),
    failure: failure ?? null,
    beginning: beginning
      ? {
          passedCommit: beginning.passed_commit,
          failedCommit: beginning.failed_commit,
          isSameCommit: beginning.kind === 'same_commit',
        }
      : null,
    links: {
      page,
      more,
      file: link(templates?.line, place) ?? link(templates?.file, place),
      commit: link(templates?.commit, { commit }),
      compare:
        beginning?.kind === 'commits'
          ? link(templates?.compare, {
              from: beginning.passed_commit ?? undefined,
              to: beginning.failed_commit ?? undefined,
            })
          : null,
    },
  };
}

function failureOf(execution: TestExecution): PromptFailure | undefined {
  const last = execution.failures.at(-1);
  return (
    last && {
      exceptionType: last.exception_type,
      exceptionMessage: last.exception_message,
      stack: last.exception_stacktrace,
      failedAt: execution.finished_at,
      leg: [execution.job_name, axesWords(execution.axes)].filter(Boolean).join(', '),
      branch: execution.branch,
      commit: execution.commit_sha,
      pullRequest: execution.pull_request,
      author: execution.author,
      file: execution.test_filepath,
      line: last.line,
    }
  );
}
