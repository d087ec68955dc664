/**
 * How many requests a credential may send, as operations ask for it and as clients are told: in the header fields of
 * draft-ietf-httpapi-ratelimit-headers-11.
 */
import { HttpProblem } from './problems.ts';

/** Counts requests in windows of fixed length; the window of a credential begins with its first request. */
export interface RateLimit {
  readonly requestsMax: number;
  readonly windowSeconds: number;
  /** Counts one request. Never rejects: a limit that cannot be asked must not fail the request. */
  count(token: string): Promise<Count>;
}

export interface Count {
  /** Requests in this window, with the one that was counted. */
  requests: number;
  /** Until the window ends. */
  resetSeconds: number;
}

const POLICY = '"key"';

/** Fields for an answer: the quota, and what is left of it. */
export function rateLimitHeaders({ requestsMax, windowSeconds }: RateLimit, count: Count): Record<string, string> {
  const left = Math.max(requestsMax - count.requests, 0);
  return {
    'ratelimit-policy': `${POLICY};q=${requestsMax};w=${windowSeconds}`,
    ratelimit: `${POLICY};r=${left};t=${count.resetSeconds}`,
  };
}

/** The answer to a request beyond the quota. */
export const tooManyRequests = ({ requestsMax, windowSeconds }: RateLimit, { resetSeconds }: Count): HttpProblem =>
  new HttpProblem(
    429,
    'Too many requests',
    `This credential may send ${requestsMax} requests in ${windowSeconds} seconds. Try again in ${resetSeconds} seconds.`,
    { 'retry-after': String(resetSeconds) },
  );
