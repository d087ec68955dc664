/**
 * Notes uploads that are refused, so that they are seen where uploads are listed. The answer waits for the note, but not for
 * long: a client that asks next finds it, and a slow store holds up no refusal.
 */
import { NAME_LENGTH_MAX, UINT32_MAX } from '../domain/limits.ts';
import { shownName } from '../domain/text.ts';
import { NO_ORIGIN, REFUSAL_REASON_LENGTH_MAX, type Refusal, type UploadOrigin } from '../domain/upload-origin.ts';
import type { Credential } from '../http/auth.ts';
import type { HttpProblem } from '../http/problems.ts';
import type { Logger } from '../observability/log.ts';
import { headOf } from './ref.ts';

export type NewRefusal = Refusal & { refusals: number };

/** Writes refusals down. */
export type WriteRefusals = (refusals: readonly NewRefusal[]) => Promise<void>;

/** Refusals that wait to be written; more are not noted. */
const WAITING_MAX = 1_000;
const WAIT_MS_MAX = 1_000;

/** One statement at a time: whatever is refused meanwhile is written by the next one, those that are alike as one. */
export class RefusalNotes {
  #waiting = new Map<string, NewRefusal>();
  #next: Promise<void> | undefined;
  #current: Promise<void> = Promise.resolve();

  constructor(
    private readonly write: WriteRefusals,
    private readonly log: Logger,
  ) {}

  /** Returns when it is written, or does not get written soon. Never throws. */
  async note(refusal: Refusal): Promise<void> {
    const key = JSON.stringify(refusal);
    const refusals = (this.#waiting.get(key)?.refusals ?? 0) + 1;
    if (refusals === 1 && this.#waiting.size >= WAITING_MAX) return;
    this.#waiting.set(key, { ...refusal, refusals });
    this.#next ??= this.#current.then(() => this.#flush());
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const timer = setTimeout(resolve, WAIT_MS_MAX);
    await Promise.race([this.#next, late]);
    clearTimeout(timer);
  }

  async #flush(): Promise<void> {
    const refusals = [...this.#waiting.values()];
    this.#waiting = new Map();
    this.#current = this.#next ?? Promise.resolve();
    this.#next = undefined;
    try {
      await this.write(refusals);
    } catch (err) {
      this.log.warn({ err, refusals: refusals.length }, 'refused uploads could not be noted');
    }
  }
}

/** The fault of an upload as a whole. A lack of room is none: the upload is sent again. */
const NOTED: ReadonlySet<number> = new Set([403, 413, 415, 422]);

export interface RefusedRequest {
  repository: { owner: string; name: string };
  format: string;
  credential: Credential | undefined;
  /** The query as it was sent, because it may be at fault. */
  url: URL;
}

/** The refusal to note of a request that was answered with a problem; undefined if there is none. */
export function refusalOf(request: RefusedRequest, { status, detail }: Pick<HttpProblem, 'status' | 'detail'>) {
  return NOTED.has(status) ? refusalFor(request, detail) : undefined;
}

export const refusalFor = (
  { repository: { owner, name }, format, credential, url: { searchParams } }: RefusedRequest,
  reason: string,
): Refusal => ({
  ...originOf(searchParams),
  owner,
  repository: name,
  format,
  sender: credential ? senderOf(credential) : null,
  reason: shownName(reason, REFUSAL_REASON_LENGTH_MAX),
});

function originOf(query: URLSearchParams): UploadOrigin {
  const text = (name: string): string | null => shownName(query.get(name) ?? '', NAME_LENGTH_MAX) || null;
  const number = (name: string): number | null => {
    const value = Number(query.get(name));
    return Number.isInteger(value) && value >= 1 && value <= UINT32_MAX ? value : null;
  };
  const head = headOf(text('branch'));
  return {
    ...NO_ORIGIN,
    pipelineName: text('pipeline_name'),
    jobName: text('job_name'),
    runId: text('run_id'),
    runAttempt: number('run_attempt'),
    commit: text('commit'),
    branch: head.branch,
    pullRequest: number('pull_request') ?? head.pullRequest,
  };
}

/** Who sends, for receipts: the name of a key, or a person with an `@`. */
export const senderOf = ({ actor, application }: Pick<Credential, 'actor' | 'application'>): string =>
  shownName(application ? application.name : `@${actor}`, NAME_LENGTH_MAX);
