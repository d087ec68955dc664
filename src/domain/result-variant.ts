/**
 * Tells apart results that come under one name: two legs of a matrix report the same test under the same run and report
 * name, and one of them failed. A resend has the same results, so it has the same variants.
 *
 * A variant says how the execution ended and what it failed with. When it ran and how long it took are not part of it: a
 * report that is made twice from one run differs in these only.
 */
import { hash } from 'node:crypto';
import type { Status } from './status.ts';

export interface ReportedResult {
  status: Status;
  isFlaky: boolean;
  /** In the order in which they were reported. */
  failures: readonly (readonly [attempt: number, type: string | null, message: string | null, stack: string | null])[];
}

export const VARIANT_BITS = 12;

/** A pass without failed attempts, as most results are. */
const PASSED = 0;
const SKIPPED = 1;
/** The first bit that is set says how it ended; the bits below digest the failures. So no two statuses share a variant. */
const RANGES: Readonly<Record<Status, number>> = { failed: 0x800, passed: 0x400, skipped: 0x200 };

/** A number of {@link VARIANT_BITS} bits. Of results with other failures, one in 512 to 2,048 has the same. */
export function variantOf({ status, isFlaky, failures }: ReportedResult): number {
  if (status !== 'failed' && !isFlaky && failures.length === 0) return status === 'passed' ? PASSED : SKIPPED;
  const digest = hash('sha1', JSON.stringify([isFlaky, failures]), 'buffer').readUInt16BE(0);
  return RANGES[status] | (digest % RANGES[status]);
}

/** How the result ended that a variant is of. */
export function statusOfVariant(variant: number): Status {
  if (variant >= RANGES.failed) return 'failed';
  return variant === PASSED || variant >= RANGES.passed ? 'passed' : 'skipped';
}
