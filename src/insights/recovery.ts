/** How many clean passes a test still needs, and which commit probably fixed it. */
import type { AnyElysia } from 'elysia';
import { SURE_FROM } from '../domain/belief.ts';
import { recoveryOf } from '../explain/recovery.ts';
import { recoverySchema } from '../explain/recovery-schema.ts';
import { type Http, mount } from '../http/operation.ts';
import { numberParameter } from '../http/parameters.ts';
import * as common from './common.ts';
import type { ExplanationOperationDeps } from './explanation.ts';

/** No test is ever likelier healthy than 99.7%: any may become flaky. */
const CONFIDENCE_MIN = 0.5;
const CONFIDENCE_MAX = 0.99;

const recoveryAddress = '/v1/ci/:owner/repositories/:repository_name/tests/:test_id/recovery';

export function mountRecovery(app: AnyElysia, http: Http, deps: ExplanationOperationDeps): void {
  mount(app, http, 'GET', recoveryAddress, {
    operationId: 'getTestRecovery',
    tag: common.TAG,
    summary: 'Say how far a test is from being surely healthy',
    description:
      'How many clean passes the test still needs on the default branch until it is healthy with the stated confidence, in all and in each of its legs (pipeline, CI job and axes), which passes count already, and the commit that probably fixed it. It foretells what the rules will say if all runs pass, as often as lately. Costs as much as an explanation, and shares its limits.',
    access: 'read',
    params: common.testPath,
    query: {
      confidence: numberParameter(CONFIDENCE_MIN, CONFIDENCE_MAX, {
        description:
          'How likely every leg must be healthy. With the default, it is surely healthy, as the recovery of quarantines asks for.',
        example: 0.9,
        default: SURE_FROM,
      }),
    },
    responses: { 200: { description: 'What it still needs.', schema: recoverySchema } },
    isCoalesced: true,
    handle: async ({ params: path, query, signal }) => {
      const { repository, testId } = await common.testAsked(deps, path);
      const { name } = await deps.knownTests.get(repository, testId);
      const test = { id: testId, name };
      const body = await deps.explanationTurns.take(repository.owner, signal, (turn) =>
        recoveryOf(deps, { repository, test, now: deps.clock.now(), turn }, query.confidence ?? SURE_FROM),
      );
      return { body };
    },
  });
}
