/** Collects refused rows by reason, in a bounded amount of memory. */
import { cleanText } from './text.ts';

/** Rows of an upload refused for one reason. */
export interface Rejection {
  reason: string;
  count: number;
  /** A few of the test names, shortened. */
  examples: string[];
}

export const REJECTION_EXAMPLES_MAX = 5;
const EXAMPLE_LENGTH_MAX = 200;

export class Rejections {
  readonly #byReason = new Map<string, Rejection>();

  add(reason: string, name: string): void {
    const known = this.#byReason.get(reason);
    const rejection = known ?? { reason, count: 0, examples: [] };
    if (!known) this.#byReason.set(reason, rejection);
    rejection.count++;
    if (rejection.examples.length < REJECTION_EXAMPLES_MAX && name !== '') rejection.examples.push(shorten(name));
  }

  list(): Rejection[] {
    return [...this.#byReason.values()];
  }
}

const shorten = (name: string): string =>
  cleanText(name.length > EXAMPLE_LENGTH_MAX ? `${name.slice(0, EXAMPLE_LENGTH_MAX)}…` : name);

export const rejectedCount = (rejections: readonly Rejection[]): number =>
  rejections.reduce((sum, { count }) => sum + count, 0);

/** The rejections of several files or chunks as one list, by reason. */
export function mergeRejections(rejections: readonly Rejection[]): Rejection[] {
  const byReason = new Map<string, Rejection>();
  for (const { reason, count, examples } of rejections) {
    const known = byReason.get(reason) ?? { reason, count: 0, examples: [] };
    known.count += count;
    known.examples = [...known.examples, ...examples].slice(0, REJECTION_EXAMPLES_MAX);
    byReason.set(reason, known);
  }
  return [...byReason.values()];
}
