/**
 * Features that clients under an open-source licence ask for and that this service does not have. Clients take 404 for
 * "not enabled" and work without them. The operations are mounted all the same, so that the answer says why and the
 * document lists them.
 */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { requestIdOf } from '../http/edge.ts';
import { type Http, mount } from '../http/operation.ts';
import { owner, repository } from '../http/path.ts';
import { notFound, nothingHere, problemResponse } from '../http/problems.ts';

const FEATURES = [
  {
    path: 'test-selection',
    operationId: 'getTestSelection',
    summary: 'Which tests a run may leave out',
    detail: 'Test selection is not offered here: run all tests.',
  },
] as const;

/** Words where another address has an id: they are no malformed ids. */
const NO_IDS = ['runs', 'stats'].map((word) => `/v1/ci/:owner/repositories/:repository/tests/${word}`);

export function mountNotOffered(app: AnyElysia, http: Http): void {
  for (const path of NO_IDS)
    app.get(path, ({ request }) => problemResponse(nothingHere(), requestIdOf(request)), { detail: { hide: true } });
  for (const { path, operationId, summary, detail } of FEATURES)
    mount(app, http, 'GET', `/v1/ci/:owner/repositories/:repository/${path}`, {
      operationId,
      tag: 'Not offered',
      summary,
      description: `Always 404, which clients take for "not enabled". ${detail}`,
      access: 'read',
      isRateLimited: false,
      params: z.object({ owner, repository }),
      responses: {},
      handle: () => {
        throw notFound(detail);
      },
    });
}
