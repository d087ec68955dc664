/**
 * Admits uploads by their weight: what cannot be read and queued within a few seconds is refused before its body is
 * read, so that the uploads that are admitted are quick, and memory stays bounded.
 *
 * How fast uploads pass is measured, not assumed: it depends on the machine, on the queue and on what is in the bodies.
 */

const MEBIBYTE = 1024 * 1024;

/** Uploads wait at most about so long. Clients wait for 10 s or more. */
const WAIT_SECONDS_MAX = 5;
/** The uploads of one owner may take so much of that: others always find room. */
const OWNER_WAIT_SECONDS_MAX = 3;
/** One large upload counts as no more, so that it finds room while little waits. */
const OWN_SECONDS_MAX = 2;
/** Bodies in memory, as sent. */
const BYTES_MAX = 128 * MEBIBYTE;

/** Reports shrink to about a twelfth. */
const GZIP_FACTOR = 12;
/** The cost of an upload besides its bytes: the request, the process, the job. */
const BASE_WEIGHT = 16 * 1024;
/** Counted for a body that does not state its length. */
const UNSTATED_BYTES = MEBIBYTE;
/** A body that takes longer to arrive keeps no place in the line meanwhile. */
const ARRIVAL_MS_MAX = 5_000;

/** Weight per second, before anything was measured: of two slow processors. */
const RATE_FIRST = 12 * MEBIBYTE;
/**
 * With fewer uploads at a time, the time that they take says nothing about how many more would pass. So many are always
 * admitted: otherwise a low rate would admit too few to find out that it is higher by now.
 */
const SATURATED_COUNT = 4;
/** A measurement that is so old counts half. */
const RATE_HALF_LIFE_MS = 10_000;

/** Imports are admitted so many at a time, and only while uploads wait for no longer than this: they can wait. */
const IMPORTS_MAX = 2;
const IMPORT_WAIT_SECONDS_MAX = 1;

export interface AdmissionLimits {
  waitSecondsMax?: number;
  bytesMax?: number;
}

/** There is no room for an upload: when to try again. */
export class NoRoom extends Error {
  override name = 'NoRoom';
  constructor(readonly retryAfterSeconds: number) {
    super('no room for another upload');
  }
}

export interface Arriving {
  /** Owner of the repository. */
  owner: string;
  /** The stated length; null if none is stated. */
  sentBytes: number | null;
  isGzip: boolean;
  /** Whether it is imported, and can wait. */
  isImported?: boolean;
}

/** An admitted upload. */
export interface Admitted {
  /** So many bytes of the body have arrived. Throws {@link NoRoom} when memory has none. */
  arrived(bytes: number): void;
  /** The whole body has arrived. */
  complete(): void;
  /** The queue has it, or it was refused. */
  leave(): void;
}

export class Admission {
  readonly #waitSecondsMax: number;
  readonly #bytesMax: number;
  /** Weight of all admitted uploads, and by owner. */
  #weight = 0;
  readonly #weights = new Map<string, number>();
  #bytes = 0;
  #count = 0;
  #importCount = 0;
  /** Uploads whose bodies arrive too slowly to keep a place in the line. */
  #slowCount = 0;
  /** Uploads whose bodies have arrived. */
  #workingCount = 0;
  #passedWeight = RATE_FIRST;
  #busyMs = 1_000;
  #measuredAt: number;

  constructor(
    /** Milliseconds; only differences matter. */
    private readonly now: () => number = () => performance.now(),
    { waitSecondsMax = WAIT_SECONDS_MAX, bytesMax = BYTES_MAX }: AdmissionLimits = {},
    private readonly random: () => number = Math.random,
  ) {
    this.#waitSecondsMax = waitSecondsMax;
    this.#bytesMax = bytesMax;
    this.#measuredAt = now();
  }

  /** How long an upload would wait now. */
  get waitSeconds(): number {
    this.#measure(0);
    return this.#secondsOf(this.#weight);
  }

  /** Throws {@link NoRoom}. What is admitted must leave. */
  admit({ owner, sentBytes, isGzip, isImported = false }: Arriving): Admitted {
    const bytes = sentBytes ?? UNSTATED_BYTES;
    const weight = BASE_WEIGHT + bytes * (isGzip ? GZIP_FACTOR : 1);
    const wait = this.waitSeconds;
    const own = Math.min(this.#secondsOf(weight), OWN_SECONDS_MAX);
    const ownersWait = this.#secondsOf(this.#weights.get(owner) ?? 0);
    const isLate =
      wait + own > this.#waitSecondsMax ||
      ownersWait + own > (this.#waitSecondsMax * OWNER_WAIT_SECONDS_MAX) / WAIT_SECONDS_MAX;
    const isCrowded = this.#count - this.#slowCount >= SATURATED_COUNT;
    if (isImported && (this.#importCount >= IMPORTS_MAX || wait > IMPORT_WAIT_SECONDS_MAX)) throw this.#noRoom(wait);
    if ((isCrowded && isLate) || (this.#count > 0 && this.#bytes + bytes > this.#bytesMax)) throw this.#noRoom(wait);
    return this.#admitted(owner, weight, isImported);
  }

  #admitted(owner: string, weight: number, isImported: boolean): Admitted {
    let bytes = 0;
    let counted = weight;
    let isHere = true;
    let isSlow = false;
    let isWorking = false;
    this.#add(owner, counted);
    this.#count++;
    if (isImported) this.#importCount++;
    const slow = setTimeout(() => {
      this.#add(owner, -counted);
      counted = 0;
      isSlow = true;
      this.#slowCount++;
    }, ARRIVAL_MS_MAX);
    return {
      arrived: (count) => {
        if (this.#count > 1 && this.#bytes + count > this.#bytesMax) throw this.#noRoom(this.#waitSecondsMax);
        bytes += count;
        this.#bytes += count;
      },
      complete: () => {
        clearTimeout(slow);
        this.#add(owner, weight - counted);
        counted = weight;
        isWorking = true;
        this.#workingCount++;
        if (isSlow) this.#slowCount--;
        isSlow = false;
      },
      leave: () => {
        if (!isHere) return;
        isHere = false;
        clearTimeout(slow);
        this.#measure(counted);
        this.#add(owner, -counted);
        this.#bytes -= bytes;
        this.#count--;
        if (isImported) this.#importCount--;
        if (isSlow) this.#slowCount--;
        if (isWorking) this.#workingCount--;
      },
    };
  }

  #add(owner: string, weight: number): void {
    this.#measure(0);
    this.#weight += weight;
    const sum = (this.#weights.get(owner) ?? 0) + weight;
    if (sum > 0) this.#weights.set(owner, sum);
    else this.#weights.delete(owner);
  }

  /** Time and weight count only while uploads wait for each other. */
  #measure(passed: number): void {
    const now = this.now();
    const elapsed = now - this.#measuredAt;
    this.#measuredAt = now;
    if (this.#workingCount < SATURATED_COUNT) return;
    const kept = 0.5 ** (elapsed / RATE_HALF_LIFE_MS);
    this.#busyMs = this.#busyMs * kept + elapsed;
    this.#passedWeight = this.#passedWeight * kept + passed;
  }

  #secondsOf(weight: number): number {
    return (weight * this.#busyMs) / 1_000 / Math.max(this.#passedWeight, 1);
  }

  /** Spread over time, or all that were refused together would come back together. */
  #noRoom(wait: number): NoRoom {
    const seconds = Math.min(Math.max(wait, 1), this.#waitSecondsMax);
    return new NoRoom(Math.ceil(seconds * (0.5 + this.random())));
  }
}
