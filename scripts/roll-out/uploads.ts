/** Uploads of a busy CI, one after another, and an account of them. */
import { z } from 'zod';

const TESTS = 20;
const PAUSE_MS = 40;
const RETRY_MS = 200;
const REPOSITORY = '/v1/ci/acme/repositories/shop';

const takenSchema = z.object({ id: z.string() });
const receiptSchema = z.object({ status: z.string() });

export class Uploads {
  /** In the order of the uploads. */
  readonly #receipts: string[] = [];
  #failed = 0;
  #slowestMs = 0;

  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  /** Uploads that were answered with 202. */
  get count(): number {
    return this.#receipts.length;
  }

  get executions(): number {
    return this.count * TESTS;
  }

  summary(): string {
    return `${this.count} uploads so far, of which ${this.#failed} failed at first; the slowest was answered after ${this.#slowestMs.toFixed(0)} ms.`;
  }

  /** Sends until `end` is called. */
  begin(): { end(): Promise<void> } {
    let isOver = false;
    const all = (async () => {
      while (!isOver) {
        await this.#send(this.count);
        await Bun.sleep(PAUSE_MS);
      }
    })();
    return {
      end: () => {
        isOver = true;
        return all;
      },
    };
  }

  /** Returns when the receipt of each says that it is stored. */
  async stored(token: string): Promise<void> {
    for (const id of this.#receipts)
      for (;;) {
        const answer = await fetch(`${this.url}${REPOSITORY}/uploads/${id}`, {
          headers: { authorization: `Bearer ${token}` },
        });
        if (answer.ok && receiptSchema.parse(await answer.json()).status === 'stored') break;
        await Bun.sleep(50);
      }
  }

  /** Until it is answered with 202, as clients do. */
  async #send(nth: number): Promise<void> {
    const cases = Array.from({ length: TESTS }, (_, test) =>
      test === 7 && nth % 5 === 0
        ? `<testcase classname="shop" name="t${test}"><failure message="timeout after 5 s"/></testcase>`
        : `<testcase classname="shop" name="t${test}"/>`,
    );
    const query = `pipeline_name=CI&job_name=unit&run_id=r${nth}&run_attempt=1&branch=main&commit=c${nth}&report=junit.xml`;
    const startedAt = performance.now();
    for (;;) {
      const answer = await fetch(`${this.url}${REPOSITORY}/junit?${query}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${this.token}` },
        body: `<testsuite name="shop">${cases.join('')}</testsuite>`,
      }).catch(() => undefined);
      if (answer?.status === 202) {
        this.#receipts.push(takenSchema.parse(await answer.json()).id);
        this.#slowestMs = Math.max(this.#slowestMs, performance.now() - startedAt);
        return;
      }
      this.#failed++;
      await Bun.sleep(RETRY_MS);
    }
  }
}
