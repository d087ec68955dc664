/** Uploads one report, with retries, and follows its receipt until it is stored. */
import { setTimeout as sleep } from 'node:timers/promises';
import { z } from 'zod';
import { systemClock } from '../clock.ts';
import type { ReportFormat } from '../ingest/formats/format.ts';
import type { PushTarget } from './push-target.ts';

export interface Rejection {
  reason: string;
  count: number;
}

export interface UploadResult {
  file: string;
  /** `queued`: accepted, but not stored when waiting ended. `failed`: nothing was stored; `problem` says why. */
  outcome: 'stored' | 'queued' | 'failed';
  accepted: number;
  duplicate: number;
  rejected: number;
  rejections: Rejection[];
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
export interface Attempts {
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
    return { ...NOTHING, file, problem: error instanceof Error ? error.message : String(error) };
  }
}

const NOTHING = {
  outcome: 'failed',
  accepted: 0,
  duplicate: 0,
  rejected: 0,
  rejections: [],
  warnings: [],
} as const satisfies Partial<UploadResult>;

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

/** Retries what may succeed later: no connection, a timeout, 408, 429 and 5xx. */
async function request(
  target: PushTarget,
  path: string,
  settings: UploadSettings,
  init: { method: string; headers?: Record<string, string>; body?: Uint8Array<ArrayBuffer> },
): Promise<Receipt> {
  const url = `${target.url}/v1/ci/${target.owner}/repositories/${target.repository}/${path}`;
  const attempts = settings.attempts ?? { max: ATTEMPTS_MAX };
  for (let attempt = 1; ; attempt++) {
    const answer = await fetch(url, {
      ...init,
      headers: { ...init.headers, authorization: `Bearer ${target.token}`, accept: 'application/json' },
      signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
    }).catch((error: Error) => error);
    const isTransient =
      answer instanceof Error || answer.status === 408 || answer.status === 429 || answer.status >= 500;
    if (!isTransient) {
      attempts.max = ATTEMPTS_MAX;
      if (answer.ok) return receiptOf(await answer.text());
      throw new Error(await problemOf(answer));
    }
    if (attempt >= attempts.max) {
      attempts.max = 1;
      throw new Error(answer instanceof Error ? unreachable(target.url, answer) : await problemOf(answer));
    }
    await sleep(pauseMs(attempt, answer, settings.backoffFirstMs ?? BACKOFF_FIRST_MS));
  }
}

function receiptOf(text: string): Receipt {
  const parsed = receiptSchema.safeParse(jsonOf(text));
  if (parsed.success) return parsed.data;
  throw new Error('the answer is not from ci-insights: check the address');
}

/**
 * As long as the service asks for; otherwise doubled each time, with jitter so that jobs of a pipeline do not retry at
 * once.
 */
function pauseMs(attempt: number, answer: Response | Error, firstMs: number): number {
  const retryAfter = answer instanceof Error ? null : answer.headers.get('retry-after');
  if (retryAfter && /^\d{1,6}$/.test(retryAfter)) return Math.min(Number(retryAfter) * 1_000, RETRY_AFTER_MS_MAX);
  if (retryAfter && !Number.isNaN(Date.parse(retryAfter)))
    return Math.min(Math.max(Date.parse(retryAfter) - systemClock.now(), 0), RETRY_AFTER_MS_MAX);
  return Math.min(firstMs * 2 ** (attempt - 1), BACKOFF_MS_MAX) * (0.5 + Math.random() / 2);
}

async function problemOf(answer: Response): Promise<string> {
  const parsed = problemSchema.safeParse(jsonOf(await answer.text().catch(() => '')));
  const { title, detail, errors } = parsed.success ? parsed.data : { title: undefined, detail: undefined, errors: [] };
  const reasons = errors.map((error) => error.msg).filter((message) => !detail?.includes(message));
  const sentence = [detail ?? title ?? answer.statusText, ...reasons].filter(Boolean).join(' ');
  return `${sentence || 'the service refused the upload'} (${answer.status})`;
}

const unreachable = (url: string, error: Error): string =>
  error.name === 'TimeoutError'
    ? `${url} did not answer within ${REQUEST_TIMEOUT_MS / 1_000} s`
    : `${url} cannot be reached: ${error.message.split('\n')[0]}`;

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
