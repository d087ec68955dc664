/** How far an import is, and how long it will take: a line that is written again on a terminal, otherwise one every ten seconds. */
import { inLog } from '../../domain/foreign-text.ts';
import { grouped } from '../../domain/grouped-number.ts';
import { count, printError } from '../output.ts';
import type { ReceiptTally } from './receipt.ts';

const EVERY_MS = 10_000;
const TERMINAL_EVERY_MS = 200;
/** The first reports say little about the others. */
const MEASURED_MIN = 20;
const AGAIN = '\r\u001b[K';

export class ImportProgress {
  #total: number | undefined;
  #before = 0;
  #begunAt = 0;
  #shownAt = 0;
  #waitedFor = '';

  constructor(
    private readonly isTerminal: boolean,
    private readonly now: () => number = () => performance.now(),
  ) {}

  begin(total: number | undefined, tally: ReceiptTally): void {
    this.#total = total;
    this.#before = tally.stored;
    this.#begunAt = this.now();
    this.#shownAt = this.#begunAt;
    const done = tally.reports;
    const left = total === undefined ? '' : ` ${count(total - Math.min(done, total), 'report')} to import`;
    printError(`Importing:${left}${done > 0 ? `, ${grouped(done)} done before` : ''}.`);
  }

  show(tally: ReceiptTally): void {
    const now = this.now();
    if (now - this.#shownAt < (this.isTerminal ? TERMINAL_EVERY_MS : EVERY_MS)) return;
    this.#shownAt = now;
    this.#waitedFor = '';
    this.#write(this.sentence(tally));
  }

  /** Says why nothing continues, once. */
  wait(reason: string): void {
    if (this.#waitedFor === reason) return;
    this.#waitedFor = reason;
    if (this.isTerminal) this.#write(`waiting: ${inLog(reason)}`);
  }

  end(): void {
    if (this.isTerminal) process.stderr.write(AGAIN);
  }

  sentence(tally: ReceiptTally): string {
    const of = this.#total === undefined ? '' : ` of ${grouped(this.#total)}`;
    const left = this.#secondsLeft(tally);
    const estimate = left === undefined ? '' : `, about ${durationOf(left)} left`;
    return `${grouped(tally.reports)}${of} reports sent, ${count(tally.executions, 'execution')} stored${estimate}`;
  }

  #secondsLeft({ stored, reports, unsettledCount }: ReceiptTally): number | undefined {
    const done = stored - this.#before;
    if (this.#total === undefined || done < MEASURED_MIN) return undefined;
    const left = Math.max(0, this.#total - reports) + unsettledCount;
    return (left * (this.now() - this.#begunAt)) / 1_000 / done;
  }

  #write(line: string): void {
    if (this.isTerminal) process.stderr.write(`${AGAIN}${line}`);
    else printError(line);
  }
}

/** `40 s`, `12 min`, `3 h` */
function durationOf(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${Math.ceil(minutes / 60)} h`;
}
