/** The client for CI jobs, as a download: `curl … /cli/ci-insights.mjs`. Made at the first request, then kept. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { type Http, mount } from '../http/operation.ts';
import { notFound } from '../http/problems.ts';
import { bundleClient, type ClientFile } from './bundle.ts';

const TAG = 'Service';
const MEDIA_TYPE = 'text/javascript';
const FILE_NAME = 'ci-insights.mjs';
const EXAMPLE = '#!/usr/bin/env node\n…\n';
/** A job may run an older client for as long: every version works with the service that delivered it. */
const LATEST_MAX_AGE_S = 300;
const YEAR_S = 31_536_000;

const HEADERS = {
  ETag: { description: 'The SHA-256 of the file, quoted.', schema: { type: 'string' } },
  'X-Client-Version': {
    description: 'The version of the client, which is that of the service.',
    schema: { type: 'string' },
  },
};

export function mountDownload(app: AnyElysia, http: Http): void {
  let made: Promise<ClientFile> | undefined;
  const client = (): Promise<ClientFile> => {
    made ??= bundleClient().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };

  // The answers are in memory, and a hundred jobs of a matrix ask for them in the same second: none has a budget.
  mount(app, http, 'GET', `/cli/${FILE_NAME}`, {
    operationId: 'getClient',
    tag: TAG,
    summary: 'The client for CI jobs',
    description:
      'One JavaScript file for Node 20 or later and for Bun, which needs nothing else: `node ci-insights.mjs --help`. It uploads test reports and decides whether a job passes.',
    access: 'public',
    perSecondMax: Number.POSITIVE_INFINITY,
    responses: { 200: { description: 'The client.', mediaType: MEDIA_TYPE, example: EXAMPLE, headers: HEADERS } },
    handle: async ({ request }) => answer(await client(), request, `public, max-age=${LATEST_MAX_AGE_S}`),
  });

  mount(app, http, 'GET', `/cli/${FILE_NAME}.sha256`, {
    operationId: 'getClientChecksum',
    tag: TAG,
    summary: 'The checksum of the client for CI jobs',
    description: 'As `sha256sum -c` reads it.',
    access: 'public',
    perSecondMax: Number.POSITIVE_INFINITY,
    responses: {
      200: { description: 'The checksum.', mediaType: 'text/plain', example: `${'0a'.repeat(32)}  ${FILE_NAME}\n` },
    },
    handle: async () => {
      const { sha256 } = await client();
      const headers = {
        'content-type': 'text/plain; charset=utf-8',
        'cache-control': `public, max-age=${LATEST_MAX_AGE_S}`,
      };
      return new Response(`${sha256}  ${FILE_NAME}\n`, { headers });
    },
  });

  mount(app, http, 'GET', `/cli/:version/${FILE_NAME}`, {
    operationId: 'getClientOfVersion',
    tag: TAG,
    summary: 'The client for CI jobs, of a version',
    description:
      'The same file under an address that never changes its content, so that caches may keep it for a year.',
    access: 'public',
    perSecondMax: Number.POSITIVE_INFINITY,
    params: z.object({ version: z.string().meta({ description: 'The version of the service.', example: '1.0.0' }) }),
    responses: {
      200: { description: 'The client.', mediaType: MEDIA_TYPE, example: EXAMPLE, headers: HEADERS },
      404: { description: 'The service has another version.' },
    },
    handle: async ({ params, request }) => {
      const file = await client();
      if (params.version !== file.version)
        throw notFound(
          `This service delivers version ${file.version} of the client: /cli/${file.version}/${FILE_NAME}`,
        );
      return answer(file, request, `public, max-age=${YEAR_S}, immutable`);
    },
  });
}

function answer({ version, bytes, sha256 }: ClientFile, request: Request, cacheControl: string): Response {
  const etag = `"${sha256}"`;
  const headers = { etag, 'cache-control': cacheControl, 'x-client-version': version };
  const known = request.headers
    .get('if-none-match')
    ?.split(',')
    .map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag)) return new Response(null, { status: 304, headers });
  return new Response(bytes, { headers: { ...headers, 'content-type': `${MEDIA_TYPE}; charset=utf-8` } });
}
