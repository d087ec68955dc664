/** What an import took, what not, and why. */
import { inLog } from '../../domain/foreign-text.ts';
import { grouped } from '../../domain/grouped-number.ts';
import { count } from '../output.ts';
import type { Outcome, StateHead, StateLine } from './state.ts';

/** Names that are listed of those that share a reason. */
const EXAMPLES_MAX = 20;
/** Reasons that are told apart; further ones are counted together. */
const REASONS_MAX = 1_000;
const OTHER_REASONS = 'other reasons';

interface Reason {
  reason: string;
  count: number;
  examples: string[];
}

/** The document of `--receipt`. */
export interface ImportReceipt {
  v: 1;
  service: string;
  repository: string;
  source: string;
  started_at: string;
  finished_at: string;
  /** Whether the source was read to its end. False: the import was stopped, and continues when it is started again. */
  is_complete: boolean;
  /** Of the reports that were taken; null if there are none. */
  first_arrived_at: string | null;
  last_arrived_at: string | null;
  reports: {
    /** Stored, as far as their receipts were read. */
    stored: number;
    /** In the queue of the service, which stores them later. */
    queued: number;
    left_out: number;
  };
  executions: Record<'accepted' | 'duplicate' | 'rejected' | 'conflicting', number>;
  pull_requests: number;
  /** Reports that were not taken, by reason. */
  left_out: Reason[];
  /** Rows of reports that the service refused, by reason. */
  rejections: Reason[];
  warnings: Reason[];
}

class Reasons {
  readonly #byReason = new Map<string, Reason>();

  add(reason: string, example: string, times = 1): void {
    const key = this.#byReason.has(reason) || this.#byReason.size < REASONS_MAX ? reason : OTHER_REASONS;
    const known = this.#byReason.get(key) ?? { reason: key, count: 0, examples: [] };
    this.#byReason.set(key, known);
    known.count += times;
    if (known.examples.length < EXAMPLES_MAX) known.examples.push(example);
  }

  list(): Reason[] {
    return [...this.#byReason.values()].sort((one, other) => other.count - one.count);
  }
}

/** Adds up what the state says. */
export class ReceiptTally {
  readonly #names = new Map<string, string>();
  readonly #leftOut = new Reasons();
  readonly #rejections = new Reasons();
  readonly #warnings = new Reasons();
  readonly #executions = { accepted: 0, duplicate: 0, rejected: 0, conflicting: 0 };
  #stored = 0;
  #leftOutCount = 0;
  #pullRequests = 0;
  #first = Number.POSITIVE_INFINITY;
  #last = Number.NEGATIVE_INFINITY;

  add(line: StateLine): void {
    if ('outcome' in line) this.#settle(line.upload, line.outcome);
    else if ('upload' in line) {
      this.#names.set(line.upload, line.name);
      this.#first = Math.min(this.#first, line.at);
      this.#last = Math.max(this.#last, line.at);
    } else if ('left_out' in line) {
      this.#leftOutCount++;
      this.#leftOut.add(line.left_out, line.name);
    } else if ('pull_request' in line) this.#pullRequests++;
  }

  /** Uploads whose receipts were not read yet, in the order in which they were sent: so many at most. */
  oldestUnsettled(atMost: number): string[] {
    const found: string[] = [];
    for (const upload of this.#names.keys()) {
      if (found.length >= atMost) break;
      found.push(upload);
    }
    return found;
  }

  get unsettledCount(): number {
    return this.#names.size;
  }

  get stored(): number {
    return this.#stored;
  }

  /** Reports that were sent or left out. */
  get reports(): number {
    return this.#stored + this.#names.size + this.#leftOutCount;
  }

  get executions(): number {
    return this.#executions.accepted + this.#executions.duplicate;
  }

  /** When the newest report that was sent had arrived; null if none was sent. Milliseconds since the epoch. */
  get lastArrivedAt(): number | null {
    return Number.isFinite(this.#last) ? this.#last : null;
  }

  #settle(upload: string, outcome: Outcome): void {
    const name = this.#names.get(upload) ?? upload;
    // Another start may have read it, too.
    if (!this.#names.delete(upload)) return;
    this.#stored++;
    for (const part of ['accepted', 'duplicate', 'rejected', 'conflicting'] as const)
      this.#executions[part] += outcome[part];
    for (const { reason, count: times } of outcome.rejections) this.#rejections.add(reason, name, times);
    for (const warning of outcome.warnings) this.#warnings.add(warning, name);
  }

  receipt(head: StateHead, when: { startedAt: number; finishedAt: number; isComplete: boolean }): ImportReceipt {
    const momentOf = (at: number): string | null => (Number.isFinite(at) ? new Date(at).toISOString() : null);
    return {
      ...head,
      started_at: new Date(when.startedAt).toISOString(),
      finished_at: new Date(when.finishedAt).toISOString(),
      is_complete: when.isComplete,
      first_arrived_at: momentOf(this.#first),
      last_arrived_at: momentOf(this.#last),
      reports: { stored: this.#stored, queued: this.#names.size, left_out: this.#leftOutCount },
      executions: { ...this.#executions },
      pull_requests: this.#pullRequests,
      left_out: this.#leftOut.list(),
      rejections: this.#rejections.list(),
      warnings: this.#warnings.list(),
    };
  }
}

/** The last lines that an import prints. */
export function receiptLines({ reports, executions, ...receipt }: ImportReceipt): string[] {
  const { first_arrived_at: first, last_arrived_at: last } = receipt;
  const span = first === null || last === null ? '' : ` from ${first.slice(0, 10)} to ${last.slice(0, 10)}`;
  const counts = [
    `${count(executions.accepted, 'execution')} accepted`,
    `${grouped(executions.duplicate)} known already`,
    `${grouped(executions.rejected)} rejected`,
    ...(executions.conflicting > 0 ? [`${grouped(executions.conflicting)} in conflict`] : []),
  ];
  const listed = ({ reason, count: times, examples: [first] }: Reason, what: string): string =>
    `${count(times, what)}: ${reason} (such as ${first})`;
  return [
    `${count(reports.stored + reports.queued, 'report')}${span} imported: ${counts.join(', ')}.`,
    ...(reports.queued > 0 ? [`${count(reports.queued, 'report')} still queued; the service will finish.`] : []),
    ...(receipt.pull_requests > 0 ? [`${count(receipt.pull_requests, 'pull request')} sent.`] : []),
    ...receipt.left_out.map((one) => listed(one, 'report')).map((line) => `Left out: ${line}`),
    ...receipt.rejections.map((one) => listed(one, 'row')).map((line) => `Rejected: ${line}`),
    ...receipt.warnings.map((one) => `${count(one.count, 'report')}: ${one.reason}`),
  ].map(inLog);
}
