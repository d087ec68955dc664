/**
 * The time that fingerprints take: for each owner a little at once, and a share of what passes. An owner whose messages take
 * longer gets brief fingerprints for the rest, so that the uploads of others are not late.
 */
import { LRUCache } from 'lru-cache';
import { briefFingerprint, normaliseMessage } from '../src/domain/fingerprint.ts';
import { fingerprintsBrief } from '../src/observability/metrics.ts';

/** Ordinary messages take 0.03 ms: of more than 30,000 at once, the rest get brief ones. */
const AT_ONCE_MS = 1_000;
const SHARE = 0.1;
const OWNERS_MAX = 10_000;
/** Messages of a job that are remembered: when much fails, it fails alike. */
const REMEMBERED_MAX = 1_000;

interface Account {
  leftMs: number;
  at: number;
}

interface BudgetOptions {
  /** Milliseconds; only differences matter. */
  now?: () => number;
  normalise?: (message: string) => string;
}

export class FingerprintBudget {
  readonly #accounts = new LRUCache<string, Account>({ max: OWNERS_MAX });
  readonly #now: () => number;
  readonly #normalise: (message: string) => string;

  constructor({ now = () => performance.now(), normalise = normaliseMessage }: BudgetOptions = {}) {
    this.#now = now;
    this.#normalise = normalise;
  }

  /** The fingerprints of a job of this owner. */
  of(owner: string): (message: string) => string {
    const known = new Map<string, string>();
    return (message) => {
      const found = known.get(message) ?? this.#fingerprint(owner.toLowerCase(), message);
      if (known.size < REMEMBERED_MAX) known.set(message, found);
      return found;
    };
  }

  #fingerprint(owner: string, message: string): string {
    const startedAt = this.#now();
    const { leftMs, at } = this.#accounts.get(owner) ?? { leftMs: AT_ONCE_MS, at: startedAt };
    const left = Math.min(AT_ONCE_MS, leftMs + (startedAt - at) * SHARE);
    if (left <= 0) {
      this.#accounts.set(owner, { leftMs: left, at: startedAt });
      fingerprintsBrief.inc();
      return briefFingerprint(message);
    }
    const fingerprint = this.#normalise(message);
    this.#accounts.set(owner, { leftMs: left - (this.#now() - startedAt), at: startedAt });
    return fingerprint;
  }
}
