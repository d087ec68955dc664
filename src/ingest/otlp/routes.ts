/** Uploads of traces: the address of the OTLP exporters, and the one that older clients use. */
import type { AnyElysia } from 'elysia';
import type { z } from 'zod';
import { type Http, mount, type Operation, type RawBodyDescription } from '../../http/operation.ts';
import { type Gateway, noteEmpty, noteRefusal, problemOfUpload, takeUpload } from '../gateway.ts';
import { INGEST_TAG, NO_ROOM, repositoryPath, TOO_LARGE, UPLOAD_ID_EXAMPLE } from '../schemas.ts';
import { exportResponse, OTLP_MEDIA_TYPES, type OtlpEncoding } from './response.ts';

/** How receipts name the format of traces. */
const OTLP = 'otlp';

const attribute = (key: string, stringValue: string) => ({ key, value: { stringValue } });

const OTLP_BODY: RawBodyDescription = {
  description: 'An OTLP ExportTraceServiceRequest. With or without `Content-Encoding: gzip`.',
  content: {
    'application/x-protobuf': { schema: { type: 'string', format: 'binary' } },
    'application/json': {
      schema: { type: 'object', properties: { resourceSpans: { type: 'array', items: { type: 'object' } } } },
      example: {
        resourceSpans: [
          {
            resource: {
              attributes: [
                attribute('cicd.pipeline.name', 'CI'),
                attribute('cicd.pipeline.task.name', 'unit'),
                attribute('cicd.pipeline.run.id', '1001'),
                attribute('vcs.ref.head.name', 'main'),
                attribute('vcs.ref.head.revision', '1111111111111111111111111111111111111111'),
              ],
            },
            scopeSpans: [
              {
                spans: [
                  {
                    traceId: '5b8efff798038103d269b633813fc60c',
                    spanId: 'eee19b7ec3c1b174',
                    name: 'Cart > adds an item',
                    startTimeUnixNano: '1795253400000000000',
                    endTimeUnixNano: '1795253400012000000',
                    attributes: [attribute('test.scope', 'case'), attribute('test.case.result.status', 'passed')],
                  },
                ],
              },
            ],
          },
        ],
      },
    },
  },
};

export function mountTraces(app: AnyElysia, http: Http, deps: Gateway): void {
  const traces = tracesOperation(deps);
  mount(app, http, 'POST', '/v1/ci/:owner/repositories/:repository/traces', { ...traces, operationId: 'uploadTraces' });
  mount(app, http, 'POST', '/v1/repos/:owner/:repository/ci/traces', {
    ...traces,
    operationId: 'uploadTracesByRepository',
    summary: 'Upload test results as OTLP traces (older clients)',
  });
}

function tracesOperation(
  deps: Gateway,
): Omit<Operation<z.infer<typeof repositoryPath>, Record<string, never>, unknown>, 'operationId'> {
  return {
    tag: INGEST_TAG,
    summary: 'Upload test results as OTLP traces',
    description:
      'Takes an OTLP/HTTP trace export in protobuf or JSON. A test is a span with `test.scope=case`, and its name is the name of the test, or a span with `test.case.name`, which then is the name, or one of `pytest-opentelemetry`; other spans are ignored. Sending the same spans again counts nothing.',
    access: 'upload',
    isRateLimited: false,
    params: repositoryPath,
    rawBody: OTLP_BODY,
    responses: {
      200: {
        description:
          'Queued, or nothing to queue. An ExportTraceServiceResponse in the encoding of the request; spans that were refused are counted in `partial_success`, with the reasons. A message there without refused spans is a warning, such as that no span is a test.',
        mediaType: OTLP_MEDIA_TYPES.json,
        otherMediaTypes: [OTLP_MEDIA_TYPES.protobuf],
        example: {
          partialSuccess: { rejectedSpans: '1', errorMessage: 'the test name is longer than 10000 characters (1)' },
        },
        headers: {
          'x-upload-id': {
            description: 'Names the receipt; absent when there was nothing to queue.',
            schema: { type: 'string', format: 'uuid', example: UPLOAD_ID_EXAMPLE },
          },
        },
      },
      413: TOO_LARGE,
      503: NO_ROOM,
    },
    onRefusal: ({ params: { owner, repository: name }, credential, url }, error) =>
      noteRefusal(deps, { repository: { owner, name }, format: OTLP, credential, url }, error),
    handle: async ({ params, request, credential, url }) => {
      const encoding = encodingOf(request.headers.get('content-type'));
      const { owner, repository: name } = params;
      const input = { kind: 'otlp', encoding } as const;
      const taken = await takeUpload(deps, { owner, name }, { request, credential }, input);
      await noteEmpty(deps, { repository: { owner, name }, format: OTLP, credential, url }, taken);
      const headers = new Headers({ 'content-type': OTLP_MEDIA_TYPES[encoding] });
      if (taken.jobs > 0) headers.set('x-upload-id', taken.uploadId);
      return new Response(exportResponse(encoding, taken), { headers });
    },
  };
}

function encodingOf(contentType: string | null): OtlpEncoding {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/x-protobuf' || mediaType === 'application/protobuf') return 'protobuf';
  if (mediaType === 'application/json') return 'json';
  throw problemOfUpload(
    'invalid',
    `Content-Type ${mediaType.slice(0, 100) || '(none)'} is not accepted: send application/x-protobuf or application/json.`,
  );
}
