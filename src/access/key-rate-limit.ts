/**
 * Counts the requests of each credential, over all replicas if they share a Redis. While Redis does not answer, each
 * replica counts alone, so that no request fails.
 */
import { hash } from 'node:crypto';
import pTimeout from 'p-timeout';
import { type RateLimiterAbstract, RateLimiterMemory, RateLimiterRedis } from 'rate-limiter-flexible';
import type { Count, RateLimit } from '../http/rate-limit.ts';
import type { Logger } from '../observability/log.ts';
import { rateLimitCountedAlone } from '../observability/metrics.ts';

const WINDOW_SECONDS = 60;
/** Reads take milliseconds, so a frozen Redis must not hold them for longer. */
const REDIS_MS_MAX = 250;
/** After Redis has failed, requests do not wait for it for so long. */
const PAUSE_MS = 1_000;
/** The slot of all our keys in a Redis Cluster. */
const KEY_PREFIX = '{ci-insights}:rate';

interface KeyRateLimitDeps {
  requestsMax: number;
  /** An ioredis connection that does not queue commands; undefined: each replica counts alone. */
  redis: object | undefined;
  log: Logger;
}

export class KeyRateLimit implements RateLimit {
  readonly requestsMax: number;
  readonly windowSeconds = WINDOW_SECONDS;
  readonly #own: RateLimiterAbstract;
  readonly #shared: RateLimiterAbstract | undefined;
  readonly #log: Logger;
  #pausedUntil = 0;
  #isShared = true;

  constructor({ requestsMax, redis, log }: KeyRateLimitDeps) {
    this.requestsMax = requestsMax;
    this.#log = log;
    const options = { points: requestsMax, duration: WINDOW_SECONDS, keyPrefix: KEY_PREFIX };
    this.#own = new RateLimiterMemory(options);
    this.#shared = redis && new RateLimiterRedis({ ...options, storeClient: redis, rejectIfRedisNotReady: true });
  }

  async count(token: string): Promise<Count> {
    // Redis is not given the token.
    const key = hash('sha256', token, 'base64url').slice(0, 22);
    return (await this.#sharedCount(key)) ?? countOf(this.#own, key);
  }

  /** Undefined while Redis does not answer. */
  async #sharedCount(key: string): Promise<Count | undefined> {
    if (!this.#shared) return undefined;
    if (performance.now() >= this.#pausedUntil) {
      try {
        const count = await pTimeout(countOf(this.#shared, key), { milliseconds: REDIS_MS_MAX });
        if (!this.#isShared) this.#log.info('Redis counts the requests of keys again');
        this.#isShared = true;
        return count;
      } catch (err) {
        this.#pausedUntil = performance.now() + PAUSE_MS;
        if (this.#isShared)
          this.#log.warn({ err }, 'Redis does not count the requests of keys; each replica counts alone until it does');
        this.#isShared = false;
      }
    }
    rateLimitCountedAlone.inc();
    return undefined;
  }
}

/** `consume` would reject beyond the limit, and as well when Redis fails. */
async function countOf(limiter: RateLimiterAbstract, key: string): Promise<Count> {
  const { consumedPoints, msBeforeNext } = await limiter.penalty(key);
  return {
    requests: consumedPoints,
    resetSeconds: Math.min(Math.max(Math.ceil(msBeforeNext / 1_000), 1), WINDOW_SECONDS),
  };
}
