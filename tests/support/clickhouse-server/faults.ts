/** Faults on the way to a server; a test requests them, one request at a time. */
import { z } from 'zod';

export const faultSchema = z.object({
  /**
   * `drop`: the connection closes before the statement runs; `drop-after`: after it has run, before the answer; `cut`: in
   * the middle of the answer; `stall`: no answer for `ms`; `idle`: the connection closes after the answer, unannounced.
   */
  kind: z.enum(['drop', 'drop-after', 'cut', 'stall', 'error', 'idle']),
  /** Only for statements that contain this text. */
  matching: z.string().default(''),
  /** How many requests meet it. */
  times: z.int().default(1),
  /** Only each of so many statements that match. */
  every: z.int().default(1),
  ms: z.int().default(0),
  /** The answer of an `error`: ClickHouse's number and its text. */
  code: z.int().default(0),
  message: z.string().default(''),
});
export type Fault = z.infer<typeof faultSchema>;
export type FaultInput = z.input<typeof faultSchema>;

export class Faults {
  readonly #planned: (Fault & { matched: number })[] = [];

  plan(fault: Fault): void {
    this.#planned.push({ ...fault, matched: 0 });
  }

  /** The fault that this statement meets, if any; it counts as met. */
  take(sql: string): Fault | undefined {
    const at = this.#planned.findIndex((fault) => sql.includes(fault.matching) && ++fault.matched % fault.every === 0);
    const fault = this.#planned[at];
    if (fault && --fault.times <= 0) this.#planned.splice(at, 1);
    return fault;
  }

  clear(): void {
    this.#planned.length = 0;
  }
}
