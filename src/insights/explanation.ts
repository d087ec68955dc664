/** Why a test is judged as it is, now or as of any moment that is retained. */
import type { AnyElysia } from 'elysia';
import { explain } from '../explain/explanation.ts';
import { explanationSchema } from '../explain/explanation-schema.ts';
import { type Http, mount } from '../http/operation.ts';
import { momentParameter } from '../http/parameters.ts';
import type { QuarantineStore } from '../postgres/quarantines.ts';
import * as common from './common.ts';
import type { ExplanationTurns } from './explanation-turns.ts';

const explanationAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/explanation';

export interface ExplanationOperationDeps extends common.InsightsDeps {
  quarantines: QuarantineStore;
  explanationTurns: ExplanationTurns;
}

export function mountExplanation(app: AnyElysia, http: Http, deps: ExplanationOperationDeps): void {
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
      const { repository, testId } = await common.testAsked(deps, path);
      const { name } = await deps.knownTests.get(repository, testId);
      const test = { id: testId, name };
      const body = await deps.explanationTurns.take(repository.owner, signal, (turn) =>
        explain(deps, { repository, test, asOf: query.as_of, now: deps.clock.now(), turn }),
      );
      return { body };
    },
  });
}
