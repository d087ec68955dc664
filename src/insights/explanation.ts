/** Why a test is judged as it is, now or as of any moment that is retained. */
import type { AnyElysia } from 'elysia';
import { ReadRefused } from '../errors.ts';
import { explain } from '../explain/explanation.ts';
import { explanationSchema } from '../explain/explanation-schema.ts';
import { FairQueue, type Shares } from '../fair-queue.ts';
import { type Http, mount } from '../http/operation.ts';
import { momentParameter } from '../http/parameters.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import * as common from './common.ts';

/** An explanation reads a test's whole history and judges it in this process, so few run at once. */
const SHARES: Shares = {
  atOnce: 2,
  atOncePerOwner: 1,
  heavyAtOnce: 2,
  heavyAtOncePerOwner: 1,
  waitingPerOwner: 20,
  waitMs: 5_000,
};

/** All statements of an explanation together. */
const EXPLANATION_MS_MAX = 10_000;

const explanationAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/explanation';

export function mountExplanation(
  app: AnyElysia,
  http: Http,
  deps: common.InsightsDeps & { quarantines: QuarantineStore },
): void {
  const turns = new FairQueue(SHARES);
  mount(app, http, 'GET', explanationAddress, {
    operationId: 'explainTest',
    tag: common.TAG,
    summary: 'Explain the health of a test',
    description:
      'Applies the rules to the retained executions of the test on the default branch, from the oldest on, and says for each pipeline and CI job which rules and which executions decided, what is held back because its run was troubled, and how far quarantines have recovered. Costs more than other reads: for people and agents, not for dashboards.',
    access: 'read',
    params: common.testPath,
    query: {
      as_of: momentParameter({
        description: 'Explain as of this moment, from what had finished by then. Defaults to everything stored so far.',
      }),
    },
    responses: { 200: { description: 'The explanation.', schema: explanationSchema } },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const repository = await common.repositoryOfTest(deps, path.owner, path.repository_name);
      const { name } = await deps.knownTests.get(repository, path.test_id);
      const { owner } = repository;
      const late = AbortSignal.timeout(EXPLANATION_MS_MAX);
      const ended = signal ? AbortSignal.any([signal, late]) : late;
      const onEnded = await turns.take({ owner, signal: ended });
      try {
        const test = { id: path.test_id, name };
        const turn = { owner, signal: ended };
        return { body: await explain(deps, { repository, test, asOf: query.as_of, now: deps.clock.now(), turn }) };
      } catch (error) {
        throw late.aborted && error === late.reason ? tooLong() : error;
      } finally {
        onEnded();
      }
    },
  });
}

const tooLong = (): ReadRefused =>
  new ReadRefused(
    'time',
    `The explanation took longer than ${EXPLANATION_MS_MAX / 1_000} s and was stopped. Try again later, or ask as of an earlier moment.`,
  );
