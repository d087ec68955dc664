/** Uploads one report and follows its receipt until it is stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Rejection } from '../domain/rejections.ts';
import type { ReportFormat } from '../formats/format.ts';
import { folderOfReport } from './attachments.ts';
import { readReport } from './report-body.ts';
import type { Receipt, Repository } from './repository.ts';
import { ServiceError } from './service-error.ts';
import { searchOf, type UploadQuery } from './upload-query.ts';

export interface UploadResult {
  file: string;
  /** `queued`: accepted, but not stored when waiting ended. `failed`: nothing was stored; `problem` says why. */
  outcome: 'stored' | 'queued' | 'failed';
  accepted: number;
  duplicate: number;
  rejected: number;
  /** Executions of which another result is stored under the same names. */
  conflicting: number;
  rejections: Pick<Rejection, 'reason' | 'count'>[];
  warnings: string[];
  /** The report broke off: what followed is lost. */
  isCutShort: boolean;
  problem: string | undefined;
  /** Whether sending it later may succeed. */
  isRetryable: boolean;
}

/** One report on its way: whatever its format, an address and a body. */
export interface Upload {
  /** How messages name it: its path. */
  file: string;
  /** Below the address of the repository, such as `junit`. */
  address: string;
  contentType: string;
  /** Tells the service the run, and the name of the report. */
  query: UploadQuery;
}

export const uploadOf = (format: ReportFormat, query: UploadQuery, file: string, report: string): Upload => ({
  file,
  address: format.name,
  contentType: format.mediaTypes[0],
  query: { ...query, report },
});

/** The same for a report that lies on the disk: some name attachments from there. */
export const uploadOfFile = (format: ReportFormat, query: UploadQuery, file: string, report: string): Upload => {
  const beside = query.attachments_url === undefined ? {} : { attachments_from: folderOfReport(file) };
  return uploadOf(format, { ...query, ...beside }, file, report);
};

const POLL_FIRST_MS = 100;
const POLL_MS_MAX = 2_000;
const compress = promisify(gzip);

/**
 * Uploads one report. Never throws: `problem` of the result says what went wrong.
 *
 * @param format how the report is read from its path
 * @param waitMsMax how long to wait until the receipt says stored; 0 does not ask for it
 */
export async function uploadFile(
  repository: Repository,
  upload: Upload,
  format: ReportFormat,
  waitMsMax: number,
): Promise<UploadResult> {
  try {
    return await uploadBytes(repository, upload, await compress(await readReport(format, upload.file)), waitMsMax);
  } catch (error) {
    return failedUpload(upload.file, error);
  }
}

/** Like {@link uploadFile}, for a body that is packed already. */
export async function uploadBytes(
  repository: Repository,
  { file, address, contentType, query }: Upload,
  gzipped: Uint8Array,
  waitMsMax: number,
): Promise<UploadResult> {
  try {
    const accepted = await repository.upload(`${address}?${searchOf(query)}`, contentType, gzipped);
    const receipt = waitMsMax > 0 ? await untilStored(repository, accepted, waitMsMax) : accepted;
    // Only the first answer says it.
    return { ...resultOf(file, receipt), isCutShort: accepted.is_cut_short };
  } catch (error) {
    return failedUpload(file, error);
  }
}

/** The result of a file of which nothing was stored. */
export const failedUpload = (file: string, error: unknown): UploadResult => ({
  file,
  outcome: 'failed',
  accepted: 0,
  duplicate: 0,
  rejected: 0,
  conflicting: 0,
  rejections: [],
  warnings: [],
  isCutShort: false,
  problem: error instanceof Error ? error.message : String(error),
  isRetryable: error instanceof ServiceError && !error.isRefusal,
});

function resultOf(file: string, receipt: Receipt): Omit<UploadResult, 'isCutShort'> {
  const isFailed = receipt.status === 'failed';
  return {
    file,
    outcome: isFailed ? 'failed' : receipt.status === 'stored' ? 'stored' : 'queued',
    accepted: receipt.accepted ?? receipt.executions ?? 0,
    duplicate: receipt.duplicate ?? 0,
    rejected: receipt.rejected ?? 0,
    conflicting: receipt.conflicting ?? 0,
    rejections: receipt.rejections,
    warnings: receipt.warnings,
    problem: isFailed ? (receipt.failure ?? 'the service could not store it') : undefined,
    isRetryable: false,
  };
}

/**
 * Polls the receipt, less and less often. Returns the last answer when time is up: the service keeps the upload anyway.
 */
async function untilStored(repository: Repository, accepted: Receipt, waitMsMax: number): Promise<Receipt> {
  const until = performance.now() + Math.min(waitMsMax, repository.service.remainingMs);
  // A report without tests has nothing to store, and may have no receipt.
  let receipt = accepted.executions === 0 ? { ...accepted, status: 'stored' } : accepted;
  for (let pause = POLL_FIRST_MS; receipt.status === 'queued'; pause = Math.min(pause * 1.5, POLL_MS_MAX)) {
    if (performance.now() + pause > until) break;
    await sleep(pause);
    try {
      receipt = await repository.receipt(accepted.id);
    } catch (error) {
      // It has been accepted, so a service that cannot be asked now stores it later.
      if (error instanceof ServiceError && !error.isRefusal) break;
      throw error;
    }
  }
  return receipt;
}
