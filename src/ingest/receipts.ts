/** The receipts of uploads over HTTP: one by its id, and the newest of a repository or of all. */
import type { AnyElysia } from 'elysia';
import { z } from 'zod';
import type { RepositoryName } from '../domain/repository-path.ts';
import { keyMoment } from '../http/cursor.ts';
import { type Http, mount } from '../http/operation.ts';
import { LINK, noWindow, type PagedList, pageReply, publicUrlOf, readPage } from '../http/pages.ts';
import { cursorParameter, enumParameter, perPageParameter, type QueryOf } from '../http/parameters.ts';
import { uuid } from '../http/path.ts';
import { notFound } from '../http/problems.ts';
import type { Receipt } from '../ledger/receipt.ts';
import type { ListedReceipt, ReceiptKey } from '../ledger/receipt-list.ts';
import type { IngestPort, ReceiptsPort } from './ports.ts';
import { INGEST_TAG, receiptSchema, repositoryPath, UPLOAD_ID_EXAMPLE } from './schemas.ts';

const uploadPath = repositoryPath.extend({
  upload_id: uuid('Names the upload, as the answer to it does.', UPLOAD_ID_EXAMPLE),
});
const LIST_ADDRESS = '/v1/ci/:owner/repositories/:repository/uploads';

const receiptJson = (receipt: Receipt): z.input<typeof receiptSchema> => ({
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
  conflicting: receipt.conflicting,
  unnamed_leg: receipt.unnamedLeg,
  name_legs_with: receipt.nameLegsWith,
  failure: receipt.failure,
  refusals: receipt.refusals,
  sender: receipt.sender,
  format: receipt.format,
  pipeline_name: receipt.pipelineName,
  job_name: receipt.jobName,
  run_id: receipt.runId,
  run_attempt: receipt.runAttempt,
  commit_sha: receipt.commit,
  branch: receipt.branch,
  pull_request: receipt.pullRequest,
});

export function mountReceipt(app: AnyElysia, http: Http, { receipt: find }: Pick<IngestPort, 'receipt'>): void {
  mount(app, http, 'GET', `${LIST_ADDRESS}/:upload_id`, {
    operationId: 'getUpload',
    tag: INGEST_TAG,
    summary: 'Get the receipt of an upload',
    description:
      'What became of an upload: how many executions were new, already known, in conflict with others, or refused and why.',
    access: 'read',
    isRateLimited: false,
    params: uploadPath,
    responses: { 200: { description: 'The receipt.', schema: receiptSchema } },
    handle: async ({ params }) => {
      const receipt = await find({ owner: params.owner, name: params.repository }, params.upload_id);
      if (!receipt) throw notFound('This repository has no such upload.');
      return { body: receiptJson(receipt) };
    },
  });
}

const listedSchema = receiptSchema.extend({
  owner: z.string().meta({ example: 'acme' }),
  repository: z.string().meta({ example: 'shop' }),
});
const listSchema = z.object({
  size: z.int().meta({ description: 'Items in this page', example: 1 }),
  per_page: z.int().meta({ description: 'Items per page', example: 10 }),
  uploads: z.array(listedSchema),
});
export type UploadList = z.output<typeof listSchema>;

const listedJson = ({ repository: { owner, name }, ...receipt }: ListedReceipt): z.input<typeof listedSchema> => ({
  owner,
  repository: name,
  ...receiptJson({ ...receipt }),
});

const pagedReceipts: PagedList<ListedReceipt, ReceiptKey> = {
  name: 'uploads',
  keySchema: z.tuple([keyMoment, z.guid()]),
  keyOf: ({ receivedAt, id }) => [receivedAt.getTime(), id],
};

const listQuery = {
  has_rejections: enumParameter(['true'], { description: 'Only uploads in which a row was refused.' }),
  has_problems: enumParameter(['true'], {
    description: 'Only uploads to look at: refused, with refused rows, in conflict, or with a warning.',
  }),
  cursor: cursorParameter(),
  per_page: perPageParameter(),
};

const ABOUT =
  'The uploads of the last 30 days, newest first, each with its receipt. An upload is listed once a worker has taken part of it; before that it waits in the queue, and one that no retry can help is a dead letter. An upload that was refused as a whole is listed with the reason: the 100 newest of a repository, those that are alike as one.';

/** The lists, of a repository and of all. */
export function mountReceiptLists(app: AnyElysia, http: Http, receipts: ReceiptsPort): void {
  const pageOf = async (repository: RepositoryName | null, query: QueryOf<typeof listQuery>, url: URL) => {
    const only = {
      isRejectedOnly: query.has_rejections !== undefined,
      isProblemOnly: query.has_problems !== undefined,
    };
    const page = await readPage(
      pagedReceipts,
      {
        path: { ...repository },
        query,
        filters: only,
        window: noWindow,
        url: publicUrlOf(http.publicUrl, url),
      },
      ({ key, direction, perPage }) => receipts.list({ repository, ...only, key, direction, rows: perPage + 1 }),
    );
    return pageReply(page, 'uploads', listedJson);
  };
  const responses = { 200: { description: 'A page of uploads.', schema: listSchema, headers: LINK } };

  mount(app, http, 'GET', LIST_ADDRESS, {
    operationId: 'listUploads',
    tag: INGEST_TAG,
    summary: 'List the uploads of a repository',
    description: ABOUT,
    access: 'read',
    params: repositoryPath,
    query: listQuery,
    responses,
    handle: ({ params, query, url }) => pageOf({ owner: params.owner, name: params.repository }, query, url),
  });

  mount(app, http, 'GET', '/v1/uploads', {
    operationId: 'listAllUploads',
    tag: INGEST_TAG,
    summary: 'List the uploads of all repositories',
    description: `${ABOUT} For keys of every owner with the scope admin.`,
    access: 'operator',
    query: listQuery,
    responses,
    handle: ({ query, url }) => pageOf(null, query, url),
  });
}
