/** The possible answers of the repository host to a question about a token. */

/** The host gave no usable answer: neither a yes nor a no. */
export interface Unavailable {
  kind: 'unavailable';
  /** For the log; never holds a token. */
  reason: string;
  /** How long the same question is not asked again. */
  retryAfterMs: number;
  /** Whether the host as a whole is to blame; a rate limit concerns one token only. */
  isHostDown: boolean;
}

/** The host does not permit this to the token, or does not know the token (401, 403). */
interface Refused {
  kind: 'refused';
}

/** The host shows this token nothing at this address (404, 410, 451). */
export interface Missing {
  kind: 'missing';
}

interface Found<T> {
  kind: 'found';
  value: T;
}

export type HostAnswer<T> = Found<T> | Missing | Refused | Unavailable;
