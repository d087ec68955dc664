/** How far an import is, for a program that runs it: a line of JSON whenever something has changed, on standard output. */
import type { ImportLine } from '../../domain/import-progress.ts';
import type { ImportProgress } from './progress.ts';
import type { ReceiptTally } from './receipt.ts';

const EVERY_MS = 250;

export class ProgressLines implements Pick<ImportProgress, 'begin' | 'show' | 'wait' | 'end'> {
  #tally: ReceiptTally | undefined;
  #writtenAt = Number.NEGATIVE_INFINITY;

  begin(_total: number | undefined, tally: ReceiptTally): void {
    this.#tally = tally;
    this.#write(null);
  }

  show(tally: ReceiptTally): void {
    this.#tally = tally;
    if (performance.now() - this.#writtenAt >= EVERY_MS) this.#write(null);
  }

  wait(reason: string): void {
    this.#write(reason);
  }

  end(): void {
    this.#write(null);
  }

  #write(waiting: string | null): void {
    if (!this.#tally) return;
    this.#writtenAt = performance.now();
    const { reports, executions, lastArrivedAt: at } = this.#tally;
    process.stdout.write(`${JSON.stringify({ reports, executions, at, waiting } satisfies ImportLine)}\n`);
  }
}
