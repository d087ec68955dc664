/** The ingest gateway over HTTP: traces, reports, and the receipts of uploads. */
import type { AnyElysia } from 'elysia';
import type { Http } from '../http/operation.ts';
import { uploadWait } from '../observability/metrics.ts';
import { Admission } from './admission.ts';
import { UploadBundles } from './bundles.ts';
import type { IngestDeps } from './gateway.ts';
import { mountTraces } from './otlp/routes.ts';
import { mountReceipt } from './receipts.ts';
import { RefusalNotes } from './refusals.ts';
import { mountReports } from './reports/routes.ts';

/** @example buildApp({ …, features: [(app, http) => mountIngest(app, http, ingestDeps)] }) */
export function mountIngest(app: AnyElysia, http: Http, deps: IngestDeps): void {
  const admission = new Admission();
  const { enqueueBundle } = deps;
  const gateway = {
    ...deps,
    admission,
    joining: enqueueBundle && new UploadBundles(enqueueBundle),
    refusals: deps.writeRefusals && new RefusalNotes(deps.writeRefusals, deps.log),
  };
  uploadWait.seconds = () => admission.waitSeconds;
  mountTraces(app, http, gateway);
  mountReports(app, http, gateway);
  mountReceipt(app, http, deps);
}
