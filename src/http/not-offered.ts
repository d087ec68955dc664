/**
 * Features that the clients ask for and this service does not have. They take 404 for "not enabled" and go on without; the
 * operations are mounted all the same, so that the answer says why and the document knows of it.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type Http, mount } from './operation.ts';
import { owner, repository } from './path.ts';
import { notFound } from './problems.ts';

const FEATURES = [
  {
    path: 'flaky-detection-context',
    operationId: 'getFlakyDetectionContext',
    summary: 'What reruns of new and unhealthy tests would need',
    detail: 'Reruns that detect flaky tests are not offered here: tests are judged by the runs that are uploaded.',
  },
  {
    path: 'test-retry-context',
    operationId: 'getTestRetryContext',
    summary: 'What retries of failed tests would need',
    detail: 'Retries by the client are not offered here: retry failed tests with the test runner.',
  },
  {
    path: 'test-selection',
    operationId: 'getTestSelection',
    summary: 'Which tests a run may leave out',
    detail: 'Selection of tests is not offered here: run all of them.',
  },
] as const;

export function mountNotOffered(app: AnyElysia, http: Http): void {
  for (const { path, operationId, summary, detail } of FEATURES)
    mount(app, http, 'GET', `/v1/ci/:owner/repositories/:repository/${path}`, {
      operationId,
      tag: 'Not offered',
      summary,
      description: `Always 404, which clients take for "not enabled". ${detail}`,
      access: 'read',
      params: z.object({ owner, repository }),
      responses: {},
      handle: () => {
        throw notFound(detail);
      },
    });
}
