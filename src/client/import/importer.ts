/**
 * Sends what a source has, oldest first, and follows what becomes of it. The service stores it beside what is live, and says
 * when there is no room: then it waits. Each step is noted before the next, so an import that is cut off continues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { SENT_PULL_REQUESTS_MAX } from '../../domain/limits.ts';
import type { ReportFormat } from '../../formats/format.ts';
import { FORMATS } from '../../formats/formats.ts';
import type { Receipt, Repository } from '../repository.ts';
import { ServiceError } from '../service-error.ts';
import { searchOf } from '../upload-query.ts';
import type { ImportedPullRequest, ImportedReport, ImportItem, ImportSource } from './item.ts';
import type { ImportProgress } from './progress.ts';
import { ReceiptTally } from './receipt.ts';
import type { ImportState, Outcome } from './state.ts';

/** As many as the service takes at a time of what is imported. */
const UPLOADS_AT_ONCE = 2;
/** One after the other, to read receipts would take longer than to store what they are of. */
const RECEIPTS_AT_ONCE = 8;
/** While one is queued, those after it are, too: so the pause is that of the oldest. */
const POLL_MS = 250;
const PAUSE_FIRST_MS = 500;
const PAUSE_MS_MAX = 30_000;
const compress = promisify(gzip);

export interface ImportOptions {
  repository: Repository;
  source: ImportSource;
  state: ImportState;
  progress: Pick<ImportProgress, 'begin' | 'show' | 'wait' | 'end'>;
  /** How long the service may be away before the import gives up. */
  patienceMs: number;
  /** Ends it early, without losing anything. */
  signal: AbortSignal;
}

/** Returns what was taken, and whether the source was read to its end. Throws {@link ServiceError} if the service stays away. */
export async function runImport(options: ImportOptions): Promise<{ tally: ReceiptTally; isComplete: boolean }> {
  const importer = new Importer(options);
  const isComplete = await importer.run();
  return { tally: importer.tally, isComplete };
}

class Importer {
  readonly tally = new ReceiptTally();
  /** Whether more may be sent, whose receipts are to be read. */
  #isSending = true;
  #hasFailed = false;

  constructor(private readonly options: ImportOptions) {
    for (const line of options.state.before) this.tally.add(line);
  }

  async run(): Promise<boolean> {
    const { source, state, progress, signal } = this.options;
    progress.begin(source.expected, this.tally);
    const following = this.#follow();
    // What it throws is thrown below, when what is being sent has ended.
    following.catch(() => {});
    try {
      const items = source.items((key) => state.isDone(key))[Symbol.asyncIterator]();
      const work = () => this.#work(items);
      await Promise.all(Array.from({ length: UPLOADS_AT_ONCE }, work));
      await Promise.all(this.#finishing);
      await this.#flushPullRequests();
    } catch (error) {
      this.#hasFailed = true;
      throw error;
    } finally {
      this.#isSending = false;
    }
    await following;
    progress.end();
    return !signal.aborted;
  }

  async #work(items: AsyncIterator<ImportItem>): Promise<void> {
    while (!this.options.signal.aborted && !this.#hasFailed) {
      const next = await items.next();
      if (next.done) return;
      const item = next.value;
      if (item.kind === 'report') await this.#inHand(this.#send(item));
      else if (item.kind === 'done') this.#finish(item.key);
      else if (item.kind === 'left_out') this.#leaveOut(item);
      else await this.#addPullRequest(item.key, item.pullRequest);
    }
    await items.return?.();
  }

  /** Once, also if what it belongs to is looked at again. */
  #leaveOut({ key, name, reason }: Extract<ImportItem, { kind: 'left_out' }>): void {
    if (!this.options.state.isDone(key)) this.#note({ key, name, left_out: reason });
  }

  /** Uploads in hand. */
  readonly #sending = new Set<Promise<void>>();

  async #inHand(sent: Promise<void>): Promise<void> {
    this.#sending.add(sent);
    try {
      await sent;
    } finally {
      this.#sending.delete(sent);
    }
  }

  readonly #finishing = new Set<Promise<void>>();

  /** Noted once what came before it is in the queue of the service. What comes after it is sent meanwhile. */
  #finish(key: string): void {
    const finished = Promise.all(this.#sending).then(
      () => this.#note({ key, done: true }),
      // Who sent it throws it.
      () => {},
    );
    this.#finishing.add(finished);
    void finished.then(() => this.#finishing.delete(finished));
  }

  #note(line: Parameters<ImportState['add']>[0]): void {
    this.options.state.add(line);
    this.tally.add(line);
    this.options.progress.show(this.tally);
  }

  async #send(report: ImportedReport): Promise<void> {
    const { key, name } = report;
    let taken: Receipt;
    try {
      const body = await report.read();
      const format = await formatOf(report, body);
      taken = await this.#upload(format, report, await compress(body));
    } catch (error) {
      if (error instanceof ServiceError && !isAboutReport(error)) throw error;
      this.#note({ key, name, left_out: error instanceof Error ? error.message : String(error) });
      return;
    }
    this.#note({ key, name, upload: taken.id, at: report.arrivedAt });
    // With nothing to queue there may be no receipt.
    if (taken.executions === 0) this.#note({ upload: taken.id, outcome: outcomeOf(taken) });
  }

  #upload(format: ReportFormat, { query, arrivedAt }: ImportedReport, gzipped: Uint8Array): Promise<Receipt> {
    const search = searchOf({ ...query, arrived_at: new Date(arrivedAt).toISOString() });
    return this.#patiently(() =>
      this.options.repository.upload(`${format.name}?${search}`, format.mediaTypes[0], gzipped),
    );
  }

  readonly #pullRequests: { key: string; pullRequest: ImportedPullRequest }[] = [];

  async #addPullRequest(key: string, pullRequest: ImportedPullRequest): Promise<void> {
    this.#pullRequests.push({ key, pullRequest });
    if (this.#pullRequests.length >= SENT_PULL_REQUESTS_MAX) await this.#flushPullRequests();
  }

  async #flushPullRequests(): Promise<void> {
    const sent = this.#pullRequests.splice(0, SENT_PULL_REQUESTS_MAX);
    if (sent.length === 0) return;
    await this.#patiently(() => this.options.repository.sendPullRequests(sent.map(({ pullRequest }) => pullRequest)));
    for (const { key, pullRequest } of sent) this.#note({ key, pull_request: pullRequest.number });
  }

  /**
   * Reads the receipts in the order in which uploads were sent, which is that in which they are stored: when the oldest is, so
   * are some of those after it.
   */
  async #follow(): Promise<void> {
    while (this.#isSending || this.tally.unsettledCount > 0) {
      if (this.options.signal.aborted || this.#hasFailed) return;
      const [oldest, ...others] = this.tally.oldestUnsettled(RECEIPTS_AT_ONCE);
      if (oldest !== undefined && (await this.#settle(oldest)))
        await Promise.all(others.map((upload) => this.#settle(upload)));
      else await sleep(POLL_MS);
    }
  }

  /** Returns whether it is known what became of the upload. */
  async #settle(upload: string): Promise<boolean> {
    const receipt = await this.#patiently(() => this.options.repository.receipt(upload));
    if (receipt.status === 'queued') return false;
    this.#note({ upload, outcome: outcomeOf(receipt) });
    return true;
  }

  /** Asks again for as long as the service has no room, or is away. */
  async #patiently<T>(ask: () => Promise<T>): Promise<T> {
    const until = performance.now() + this.options.patienceMs;
    for (let pause = PAUSE_FIRST_MS; ; pause = Math.min(2 * pause, PAUSE_MS_MAX)) {
      try {
        return await ask();
      } catch (error) {
        const isOver = this.options.signal.aborted || performance.now() + pause > until;
        if (!(error instanceof ServiceError) || error.isRefusal || isOver) throw error;
        this.options.progress.wait(error.message);
        await sleep(pause);
      }
    }
  }
}

/** Whether the service refuses this report, and would take others: not if the key is wrong. */
const isAboutReport = ({ isRefusal, status }: ServiceError): boolean => isRefusal && (status === 413 || status === 422);

async function formatOf({ format: stated }: ImportedReport, body: Uint8Array): Promise<ReportFormat> {
  const named = FORMATS.find(({ name }) => name === stated);
  if (named) return named;
  const { formatOf: recognised, whatIs } = await import('../../formats/recognise.ts');
  const found = await recognised(body);
  if (found) return found;
  const what = await whatIs(body);
  throw new Error(what === null ? 'it is not a report of a known format, or broken' : `it is ${what}`);
}

const outcomeOf = (receipt: Receipt): Outcome => ({
  accepted: receipt.accepted ?? 0,
  duplicate: receipt.duplicate ?? 0,
  rejected: receipt.rejected ?? 0,
  conflicting: receipt.conflicting ?? 0,
  rejections: receipt.failure
    ? [{ reason: receipt.failure, count: 1 }]
    : receipt.rejections.map(({ reason, count }) => ({ reason, count })),
  warnings: receipt.warnings,
});
