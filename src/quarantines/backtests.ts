/** Backtests: what a policy of automatic quarantine would have done. A worker makes them. */
import { isDeepStrictEqual } from 'node:util';
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import { backtestPolicySchema } from '../domain/backtest-policy.ts';
import { backtestReportSchema } from '../domain/backtest-report.ts';
import { DAY_MS } from '../domain/time.ts';
import { auditActorOf } from '../http/auth.ts';
import { type Http, mount } from '../http/operation.ts';
import { uuid } from '../http/path.ts';
import { conflict, notFound, unprocessable } from '../http/problems.ts';
import { BACKTESTS_KEPT_MAX, type Backtest, BacktestStore, type ListedBacktest } from '../postgres/backtests.ts';
import type { Database } from '../postgres/client.ts';
import type { RepositoryStore } from '../postgres/repositories.ts';
import { repositoryPath } from './schemas.ts';

const TAG = 'CI quarantine';
const ADDRESS = '/v1/ci/:owner/repositories/:repository/backtests';
const ID_EXAMPLE = '0198f3a2-6c1e-7b1c-8f5d-1f2e3d4c5b6a';
const moment = z.iso.datetime();

/** Nothing is retained for longer. */
const SINCE_DAYS_MAX = 3_650;

const listed = z
  .object({
    id: z.guid().meta({ example: ID_EXAMPLE }),
    status: z.enum(['running', 'finished', 'failed']).meta({ example: 'finished' }),
    requested_at: moment.meta({ example: '2026-11-21T10:00:00.000Z' }),
    requested_by: z.string().meta({ description: 'The login, or the name of the key', example: 'ann' }),
    finished_at: moment.nullable().meta({ example: '2026-11-21T10:00:20.000Z' }),
    policy: backtestPolicySchema,
    tests_replayed: z.int().meta({ example: 31 }),
    tests: z.int().meta({ description: '0 until a worker begins', example: 31 }),
    summary: z.string().nullable().meta({
      description: 'The report in a sentence; null until it is finished',
      example: 'It would have made 3 quarantines, spared 41 of 120 red runs and hidden 1 regression.',
    }),
  })
  .meta({ id: 'ListedBacktest' });
const response = listed
  .extend({ report: backtestReportSchema.nullable().meta({ description: 'Null until it is finished' }) })
  .meta({ id: 'Backtest' });
const list = z.object({ backtests: z.array(listed).max(BACKTESTS_KEPT_MAX) }).meta({ id: 'BacktestList' });

export type BacktestAnswer = z.output<typeof response>;
export type BacktestList = z.output<typeof list>;

const entryOf = (found: ListedBacktest): z.output<typeof listed> => ({
  id: found.id,
  status: found.finishedAt === null ? 'running' : found.failure === null ? 'finished' : 'failed',
  requested_at: found.requestedAt.toISOString(),
  requested_by: found.requestedBy,
  finished_at: found.finishedAt?.toISOString() ?? null,
  policy: found.policy,
  tests_replayed: found.replayed,
  tests: found.tests,
  summary: found.summary,
});

const documentOf = (found: Backtest): BacktestAnswer => ({ ...entryOf(found), report: found.report });

interface BacktestDeps {
  db: Database;
  clock: Clock;
  repositories: RepositoryStore;
}

export function mountBacktests(app: AnyElysia, http: Http, { db, clock, repositories }: BacktestDeps): void {
  const store = new BacktestStore(db, clock);
  mount(app, http, 'POST', ADDRESS, {
    operationId: 'requestBacktest',
    tag: TAG,
    summary: 'Backtest a policy of automatic quarantine',
    description:
      'Asks a worker to replay the policy on the retained executions: which tests it would have quarantined, when and for how long, how many red runs it would have spared, and which regressions it would have hidden. It only reads, and changes no setting. One at a time of a repository: while one of the same policy runs, it is returned; while another one runs, the answer is 409.',
    access: 'quarantine',
    params: repositoryPath,
    body: backtestPolicySchema,
    bodyExample: { auto_quarantine: 'flaky', since: '2026-09-22T00:00:00Z' },
    responses: { 202: { description: 'The backtest that is made.', schema: response } },
    handle: async ({ params: path, body: policy, credential, requestId }) => {
      requirePast(Date.parse(policy.since), clock.now());
      const repository = await repositories.find(path.owner, path.repository);
      if (!repository) throw notFound('Nothing was ever uploaded for this repository. Check the owner and the name.');
      const found = await store.request(repository, policy, auditActorOf(credential, requestId));
      if (!isDeepStrictEqual(found.policy, policy))
        throw conflict(`A backtest of another policy is running: ${found.id}. Try again when it is finished.`);
      return { status: 202, body: documentOf(found) };
    },
  });
  mount(app, http, 'GET', ADDRESS, {
    operationId: 'listBacktests',
    tag: TAG,
    summary: 'List backtests',
    description: `Those of a repository that are kept, the newest first: of the last thirty days, at most ${BACKTESTS_KEPT_MAX}. Without their reports.`,
    access: 'read',
    params: repositoryPath,
    responses: { 200: { description: 'The backtests.', schema: list } },
    handle: async ({ params: path }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const found = repository ? await store.list(repository.id) : [];
      return { body: { backtests: found.map(entryOf) } };
    },
  });
  mount(app, http, 'GET', `${ADDRESS}/:backtest_id`, {
    operationId: 'getBacktest',
    tag: TAG,
    summary: 'Get a backtest',
    description: `How far it is, and its report once it is finished. Kept for thirty days, the newest ${BACKTESTS_KEPT_MAX} of a repository.`,
    access: 'read',
    params: repositoryPath.extend({ backtest_id: uuid('As it was answered to the request.', ID_EXAMPLE) }),
    responses: { 200: { description: 'The backtest.', schema: response } },
    handle: async ({ params: path }) => {
      const repository = await repositories.find(path.owner, path.repository);
      const found = repository && (await store.find(repository.id, path.backtest_id));
      if (!found) throw notFound('There is no such backtest of this repository. POST to …/backtests makes one.');
      return { body: documentOf(found) };
    },
  });
}

/** Throws 422 for a policy that was never on, or for longer than anything is retained. */
function requirePast(since: number, now: number): void {
  const msg =
    since >= now
      ? 'is not in the past'
      : since < now - SINCE_DAYS_MAX * DAY_MS
        ? `is more than ${SINCE_DAYS_MAX} days ago`
        : undefined;
  if (msg) throw unprocessable([{ loc: ['body', 'since'], msg, type: 'invalid_value' }]);
}
