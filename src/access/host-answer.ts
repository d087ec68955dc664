/** What the repository host can answer to a question about a token. */

/** The host gave no answer that can be relied on: neither a yes nor a no. */
export interface Unavailable {
  kind: 'unavailable';
  /** For the log; holds no token. */
  reason: string;
  /** How long the same question is not put again. */
  retryAfterMs: number;
  /** Whether it speaks against the host as a whole; a rate limit concerns one token only. */
  isHostDown: boolean;
}

/** The host knows the token and does not let it do this, or does not know the token (401, 403). */
export interface Refused {
  kind: 'refused';
}

/** The host shows nothing at this address to this token (404, 410, 451). */
export interface Missing {
  kind: 'missing';
}

export interface Found<T> {
  kind: 'found';
  value: T;
}

export type HostAnswer<T> = Found<T> | Missing | Refused | Unavailable;
