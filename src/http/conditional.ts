/** Conditional reads: an ETag of the exact bytes, and 304 when the client has them already. */

/** A strong entity tag of a body. */
export const etagOf = (body: string): string => `"${Bun.hash(body).toString(36)}"`;

/** Whether `If-None-Match` names the tag; compared weakly, as RFC 9110 says. */
export function isNotModified(ifNoneMatch: string | null, etag: string): boolean {
  if (ifNoneMatch === null) return false;
  if (ifNoneMatch.trim() === '*') return true;
  return ifNoneMatch.split(',').some((tag) => tag.trim().replace(/^W\//, '') === etag);
}
