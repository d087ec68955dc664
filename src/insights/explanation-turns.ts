/** Turns of those that read and judge the whole history of a test. */
import { ReadRefused } from '../errors.ts';
import { FairQueue, type Shares, type Turn } from '../fair-queue.ts';

/** An explanation reads a test's whole history and judges it in this process, so few run at once. */
const SHARES: Shares = {
  atOnce: 2,
  atOncePerOwner: 1,
  heavyAtOnce: 2,
  heavyAtOncePerOwner: 1,
  waitingPerOwner: 20,
  waitMs: 5_000,
};

/** All statements of an explanation together. */
const EXPLANATION_MS_MAX = 10_000;

export class ExplanationTurns {
  readonly #turns = new FairQueue(SHARES);

  /** @param signal of the request */
  async take<T>(owner: string, signal: AbortSignal | undefined, explain: (turn: Turn) => Promise<T>): Promise<T> {
    const late = AbortSignal.timeout(EXPLANATION_MS_MAX);
    const ended = signal ? AbortSignal.any([signal, late]) : late;
    const onEnded = await this.#turns.take({ owner, signal: ended });
    try {
      return await explain({ owner, signal: ended });
    } catch (error) {
      throw late.aborted && error === late.reason ? tooLong() : error;
    } finally {
      onEnded();
    }
  }
}

const tooLong = (): ReadRefused =>
  new ReadRefused(
    'time',
    `The explanation took longer than ${EXPLANATION_MS_MAX / 1_000} s and was stopped. Try again later, or ask as of an earlier moment.`,
  );
