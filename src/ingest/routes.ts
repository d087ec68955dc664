/** The ingest gateway over HTTP (design §6): traces, JUnit reports, and the receipts of uploads. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import { rejectedCount } from '../domain/rejections.ts';
import { type Http, mount, type Operation, type ResponseDescription } from '../http/operation.ts';
import { owner, repository, uuid } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import { BODY_LIMITS, readBody } from './body.ts';
import { InvalidUpload } from './errors.ts';
import { type IngestDeps, queueUpload, understood } from './gateway.ts';
import { reportFiles } from './junit/files.ts';
import { parseReports } from './junit/upload.ts';
import { parseOtlp } from './otlp/map.ts';
import { exportResponse, OTLP_MEDIA_TYPES, type OtlpEncoding } from './otlp/response.ts';
import {
  JUNIT_BODY,
  junitQuery,
  OTLP_BODY,
  receiptSchema,
  TOO_LARGE,
  takenSchema,
  UPLOAD_ID_EXAMPLE,
} from './schemas.ts';

const TAG = 'Ingestion';

const repositoryPath = z.object({ owner, repository });
const uploadPath = repositoryPath.extend({
  upload_id: uuid('Names the upload, as its acknowledgement gives it.', UPLOAD_ID_EXAMPLE),
});

/** @example buildApp({ …, features: [(app, http) => mountIngest(app, http, ingestDeps)] }) */
export function mountIngest(app: AnyElysia, http: Http, deps: IngestDeps): void {
  const traces = tracesOperation(deps);
  mount(app, http, 'POST', '/v1/ci/:owner/repositories/:repository/traces', { ...traces, operationId: 'uploadTraces' });
  mount(app, http, 'POST', '/v1/repos/:owner/:repository/ci/traces', {
    ...traces,
    operationId: 'uploadTracesByRepository',
    summary: 'Upload test results as OTLP traces (older clients)',
  });
  mountJunit(app, http, deps);
  mountReceipt(app, http, deps);
}

function tracesOperation(
  deps: IngestDeps,
): Omit<Operation<z.infer<typeof repositoryPath>, Record<string, never>, unknown>, 'operationId'> {
  return {
    tag: TAG,
    summary: 'Upload test results as OTLP traces',
    description:
      'Takes an OTLP/HTTP trace export in protobuf or JSON. A test is a span with `test.scope=case`, its name is the name of the test; other spans are ignored. Sending the same spans again counts nothing.',
    access: 'upload',
    params: repositoryPath,
    rawBody: OTLP_BODY,
    responses: {
      200: {
        description:
          'Queued, or nothing to queue. An ExportTraceServiceResponse in the encoding of the request; spans that were refused are counted in `partial_success`, with the reasons.',
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
    },
    handle: async ({ params, request }) => {
      const { encoding, upload } = await understood(async () => {
        const requested = encodingOf(request.headers.get('content-type'));
        const body = await readBody(request, deps.limits ?? BODY_LIMITS);
        return { encoding: requested, upload: await parseOtlp(body, requested, limitsOf(deps)) };
      });
      const { uploadId, jobs } = await queueUpload(deps, { owner: params.owner, name: params.repository }, upload);
      const headers = new Headers({ 'content-type': OTLP_MEDIA_TYPES[encoding] });
      if (jobs > 0) headers.set('x-upload-id', uploadId);
      return new Response(exportResponse(encoding, upload.rejections), { headers });
    },
  };
}

const limitsOf = ({ executionsMax }: IngestDeps) => (executionsMax === undefined ? {} : { executionsMax });

function encodingOf(contentType: string | null): OtlpEncoding {
  const mediaType = contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'application/x-protobuf' || mediaType === 'application/protobuf') return 'protobuf';
  if (mediaType === 'application/json') return 'json';
  throw new InvalidUpload(
    `Content-Type ${mediaType.slice(0, 100) || '(none)'} is not understood: send application/x-protobuf or application/json.`,
  );
}

function mountJunit(app: AnyElysia, http: Http, deps: IngestDeps): void {
  mount(app, http, 'POST', '/v1/ci/:owner/repositories/:repository/junit', {
    operationId: 'uploadJunitReport',
    tag: TAG,
    summary: 'Upload JUnit XML reports',
    description:
      'Takes a report, or several as the files of a form. The same report of the same run, attempt, pipeline and job counts once, however often it is sent: give `run_id`, and a `report` to each shard.',
    access: 'upload',
    params: repositoryPath,
    query: junitQuery,
    rawBody: JUNIT_BODY,
    responses: {
      202: {
        description: 'Queued. The receipt says when it is stored.',
        schema: takenSchema,
        headers: {
          location: { description: 'Address of the receipt.', schema: { type: 'string', format: 'uri' } },
        },
      },
      413: TOO_LARGE,
    },
    handle: async ({ params, query, request, url }) => {
      const limits = deps.limits ?? BODY_LIMITS;
      const upload = await understood(async () => {
        const body = await readBody(request, limits);
        return parseReports(
          await reportFiles(body, request.headers.get('content-type'), limits),
          query,
          deps.executionsMax,
        );
      });
      const { uploadId, executions } = await queueUpload(
        deps,
        { owner: params.owner, name: params.repository },
        upload,
      );
      const path = `/v1/ci/${params.owner}/repositories/${params.repository}/uploads/${uploadId}`;
      const location = `${http.publicUrl ?? url.origin}${path}`;
      const { rejections, warnings } = upload;
      return {
        status: 202,
        headers: { location },
        body: {
          id: uploadId,
          status: 'queued',
          executions,
          rejected: rejectedCount(rejections),
          rejections,
          warnings,
          url: location,
        },
      };
    },
  });
}

function mountReceipt(app: AnyElysia, http: Http, deps: IngestDeps): void {
  const found: ResponseDescription = { description: 'The receipt.', schema: receiptSchema };
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/uploads/:upload_id', {
    operationId: 'getUpload',
    tag: TAG,
    summary: 'Get the receipt of an upload',
    description: 'What became of an upload: how many executions were new, known already, or refused and why.',
    access: 'upload',
    params: uploadPath,
    responses: { 200: found },
    handle: async ({ params }) => {
      const receipt = await deps.receipt({ owner: params.owner, name: params.repository }, params.upload_id);
      if (!receipt) throw notFound('There is no such upload to this repository.');
      return {
        body: {
          id: receipt.id,
          status: receipt.status,
          received_at: receipt.receivedAt.toISOString(),
          stored_at: receipt.storedAt?.toISOString() ?? null,
          accepted: receipt.accepted,
          duplicate: receipt.duplicate,
          rejected: receipt.rejected,
          on_default_branch: receipt.onDefaultBranch,
          rejections: receipt.rejections,
          warnings: receipt.warnings,
          failure: receipt.failure,
        },
      };
    },
  });
}
