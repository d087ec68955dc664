/**
 * Handles `upload-bundles` jobs: each chunk as if it had come alone. A bad chunk becomes a dead letter of `test-runs`
 * under its own id, and the others are stored. If a store is down, the bundle is tried again as a whole: what is stored
 * by then counts nothing twice.
 */
import { inSpan } from '../src/observability/tracing.ts';
import { testRuns, type testRunsSchema } from '../src/queue/test-runs.ts';
import type { uploadBundleSchema } from '../src/queue/upload-bundles.ts';
import { bury, type ConsumerDeps, consumerSpan, type Handler, outcomeOf } from './consume.ts';

export const uploadBundlesHandler =
  (
    deps: Pick<ConsumerDeps, 'deadLetters' | 'log'>,
    handler: Handler<typeof testRunsSchema>,
  ): Handler<typeof uploadBundleSchema> =>
  async ({ uploads }, { bytes, attempt, queuedAt }) => {
    const each = Math.ceil(bytes / uploads.length);
    const outcomes = await Promise.allSettled(
      uploads.map(({ id, job, trace: parent }) =>
        inSpan(`process ${testRuns.name}`, consumerSpan(testRuns, { id, parent, attempt }), async () => {
          const outcome = await outcomeOf(testRuns, handler, job, { id, attempt, bytes: each, queuedAt });
          return outcome && { outcome, letter: { id, data: job, payload: job } };
        }),
      ),
    );
    for (const { reason } of outcomes.filter((outcome) => outcome.status === 'rejected')) throw reason;
    // Only now: a letter that is replayed while its bundle is tried again would become one again.
    for (const { value } of outcomes.filter((outcome) => outcome.status === 'fulfilled'))
      if (value) await bury(deps, testRuns, value.letter, value.outcome);
    return undefined;
  };
