/** The ingest gateway over HTTP: traces, reports, and the receipts of uploads. */
import type { AnyElysia } from 'elysia';
import { type Http, mount } from '../http/operation.ts';
import { uuid } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import { uploadWait } from '../observability/metrics.ts';
import { Admission } from './admission.ts';
import { UploadBundles } from './bundles.ts';
import type { IngestDeps } from './gateway.ts';
import { mountTraces } from './otlp/routes.ts';
import { mountReports } from './reports/routes.ts';
import { INGEST_TAG, receiptSchema, repositoryPath, UPLOAD_ID_EXAMPLE } from './schemas.ts';

const uploadPath = repositoryPath.extend({
  upload_id: uuid('Names the upload, as the answer to it does.', UPLOAD_ID_EXAMPLE),
});

/** @example buildApp({ …, features: [(app, http) => mountIngest(app, http, ingestDeps)] }) */
export function mountIngest(app: AnyElysia, http: Http, deps: IngestDeps): void {
  const admission = new Admission();
  const gateway = { ...deps, admission, joining: deps.bundles && new UploadBundles(deps.bundles.enqueue) };
  uploadWait.seconds = () => admission.waitSeconds;
  mountTraces(app, http, gateway);
  mountReports(app, http, gateway);
  mountReceipt(app, http, deps);
}

function mountReceipt(app: AnyElysia, http: Http, deps: IngestDeps): void {
  mount(app, http, 'GET', '/v1/ci/:owner/repositories/:repository/uploads/:upload_id', {
    operationId: 'getUpload',
    tag: INGEST_TAG,
    summary: 'Get the receipt of an upload',
    description: 'What became of an upload: how many executions were new, already known, or refused and why.',
    access: 'upload',
    isRateLimited: false,
    params: uploadPath,
    responses: { 200: { description: 'The receipt.', schema: receiptSchema } },
    handle: async ({ params }) => {
      const receipt = await deps.receipt({ owner: params.owner, name: params.repository }, params.upload_id);
      if (!receipt) throw notFound('This repository has no such upload.');
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
