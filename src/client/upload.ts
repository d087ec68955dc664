/** Uploads one report, with retries, and follows its receipt until it is stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import ky, { HTTPError, NetworkError, type RetryOptions, TimeoutError } from 'ky';
import { z } from 'zod';
import type { Rejection } from '../domain/rejections.ts';
import type { ReportFormat } from '../formats/format.ts';
import type { PushTarget } from './push-target.ts';

export interface UploadResult {
  file: string;
  /** `queued`: accepted, but not stored when waiting ended. `failed`: nothing was stored; `problem` says why. */
  outcome: 'stored' | 'queued' | 'failed';
  accepted: number;
  duplicate: number;
  rejected: number;
  rejections: Pick<Rejection, 'reason' | 'count'>[];
  warnings: string[];
  problem: string | undefined;
}

export interface UploadSettings {
  /** How long to wait until the receipt says stored; 0 does not ask for it. */
  waitMsMax: number;
  /** For tests. */
  backoffFirstMs?: number;
  /** Shared by the files of one push. */
  attempts?: Attempts;
}

/** When all attempts for one file have failed, each of a hundred others must not wait as long: they get one attempt. */
interface Attempts {
  max: number;
}

export const ATTEMPTS_MAX = 6;
const BACKOFF_FIRST_MS = 500;
const BACKOFF_MS_MAX = 30_000;
/** A service that asks for a longer wait will not be back within a CI job. */
const RETRY_AFTER_MS_MAX = 60_000;
const REQUEST_TIMEOUT_MS = 60_000;
const POLL_FIRST_MS = 100;
const POLL_MS_MAX = 2_000;

/** The fields of a receipt, of which the answer to an upload has some. Counts are null while unknown. */
const receiptSchema = z.object({
  id: z.string(),
  status: z.string(),
  executions: z.number().nullish(),
  accepted: z.number().nullish(),
  duplicate: z.number().nullish(),
  rejected: z.number().nullish(),
  rejections: z.array(z.object({ reason: z.string(), count: z.number() })).default([]),
  warnings: z.array(z.string()).default([]),
  failure: z.string().nullish(),
});
type Receipt = z.infer<typeof receiptSchema>;

const problemSchema = z.object({
  title: z.string().optional(),
  detail: z.string().optional(),
  errors: z.array(z.object({ msg: z.string() })).default([]),
});

/** Uploads one file. Never throws: `problem` of the result says what went wrong. */
export async function uploadReport(
  format: ReportFormat,
  target: PushTarget,
  file: string,
  settings: UploadSettings,
): Promise<UploadResult> {
  try {
    const body = Bun.gzipSync(new Uint8Array(await Bun.file(file).arrayBuffer()));
    const query = new URLSearchParams({ ...target.query, report: target.reportOf(file) });
    const accepted = await request(target, `${format.name}?${query}`, settings, {
      method: 'POST',
      headers: { 'content-type': format.mediaTypes[0], 'content-encoding': 'gzip' },
      body,
    });
    return resultOf(file, settings.waitMsMax > 0 ? await untilStored(target, accepted, settings) : accepted);
  } catch (error) {
    return failedUpload(file, error instanceof Error ? error.message : String(error));
  }
}

/** The result of a file of which nothing was stored. */
export const failedUpload = (file: string, problem: string): UploadResult => ({
  file,
  outcome: 'failed',
  accepted: 0,
  duplicate: 0,
  rejected: 0,
  rejections: [],
  warnings: [],
  problem,
});

function resultOf(file: string, receipt: Receipt): UploadResult {
  const isFailed = receipt.status === 'failed';
  return {
    file,
    outcome: isFailed ? 'failed' : receipt.status === 'stored' ? 'stored' : 'queued',
    accepted: receipt.accepted ?? receipt.executions ?? 0,
    duplicate: receipt.duplicate ?? 0,
    rejected: receipt.rejected ?? 0,
    rejections: receipt.rejections,
    warnings: receipt.warnings,
    problem: isFailed ? (receipt.failure ?? 'the service could not store it') : undefined,
  };
}

/**
 * Polls the receipt, less and less often. Returns the last answer when time is up: the service keeps the upload anyway.
 */
async function untilStored(target: PushTarget, accepted: Receipt, settings: UploadSettings): Promise<Receipt> {
  const until = performance.now() + settings.waitMsMax;
  // A report without tests has nothing to store, and may have no receipt.
  let receipt = accepted.executions === 0 ? { ...accepted, status: 'stored' } : accepted;
  for (let pause = POLL_FIRST_MS; receipt.status === 'queued'; pause = Math.min(pause * 1.5, POLL_MS_MAX)) {
    if (performance.now() + pause > until) break;
    await sleep(pause);
    receipt = await request(target, `uploads/${accepted.id}`, settings, { method: 'GET' });
  }
  return receipt;
}

const SERVER_ERRORS = Array.from({ length: 100 }, (_, i) => 500 + i);
/** What may succeed later. */
const TRANSIENT_STATUSES: readonly number[] = [408, 429, ...SERVER_ERRORS];

interface RequestInput {
  method: 'GET' | 'POST';
  headers?: Record<string, string>;
  body?: Uint8Array<ArrayBuffer>;
}

/** Retries after no connection, a timeout and a transient status, as long as `attempts` allows it. */
async function request(
  target: PushTarget,
  path: string,
  settings: UploadSettings,
  { headers, ...input }: RequestInput,
): Promise<Receipt> {
  const attempts = settings.attempts ?? { max: ATTEMPTS_MAX };
  const url = `${target.url}/v1/ci/${target.owner}/repositories/${target.repository}/${path}`;
  const answer = ky(url, {
    ...input,
    headers: { ...headers, authorization: `Bearer ${target.token}`, accept: 'application/json' },
    timeout: REQUEST_TIMEOUT_MS,
    retry: retryOptions(attempts, settings.backoffFirstMs ?? BACKOFF_FIRST_MS),
  });
  try {
    const text = await answer.text();
    attempts.max = ATTEMPTS_MAX;
    return receiptOf(text);
  } catch (error) {
    if (error instanceof ForeignAnswer) throw error;
    const isRefusal = error instanceof HTTPError && !TRANSIENT_STATUSES.includes(error.response.status);
    attempts.max = isRefusal ? ATTEMPTS_MAX : 1;
    throw new Error(error instanceof HTTPError ? problemOf(error) : unreachable(target.url, error), { cause: error });
  }
}

const retryOptions = (attempts: Attempts, backoffFirstMs: number): RetryOptions => ({
  limit: ATTEMPTS_MAX - 1,
  methods: ['get', 'post'],
  statusCodes: [...TRANSIENT_STATUSES],
  // As long as the service asks for.
  afterStatusCodes: [...TRANSIENT_STATUSES],
  maxRetryAfter: RETRY_AFTER_MS_MAX,
  // Otherwise doubled each time, with jitter so that the jobs of a pipeline do not retry at once.
  delay: (attempt) => backoffFirstMs * 2 ** (attempt - 1),
  backoffLimit: BACKOFF_MS_MAX,
  jitter: (delayMs) => delayMs * (0.5 + Math.random() / 2),
  shouldRetry: ({ error, retryCount }) => {
    if (retryCount >= attempts.max) return false;
    // Decided by status; connections that fail and timeouts are always retried.
    return error instanceof HTTPError ? undefined : true;
  },
});

/** An answer that no ci-insights gives. */
class ForeignAnswer extends Error {}

function receiptOf(text: string): Receipt {
  const parsed = receiptSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new ForeignAnswer('the answer is not from ci-insights: check the address');
}

function problemOf({ response, data }: HTTPError): string {
  const parsed = problemSchema.safeParse(typeof data === 'string' ? jsonOf(data) : data);
  const { title, detail, errors } = parsed.success ? parsed.data : { title: undefined, detail: undefined, errors: [] };
  const reasons = errors.map((error) => error.msg).filter((message) => !detail?.includes(message));
  const sentence = [detail ?? title ?? response.statusText, ...reasons].filter(Boolean).join(' ');
  return `${sentence || 'the service refused the upload'} (${response.status})`;
}

function unreachable(url: string, error: unknown): string {
  if (error instanceof TimeoutError) return `${url} did not answer within ${REQUEST_TIMEOUT_MS / 1_000} s`;
  const cause = error instanceof NetworkError ? error.cause : error;
  const message = cause instanceof Error ? cause.message : String(cause);
  return `${url} cannot be reached: ${message.split('\n')[0]}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
