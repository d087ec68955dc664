/**
 * The cookie that holds the token of a session. No script can read it, and no other site's page makes a browser send it.
 *
 * With TLS it has a name that browsers take from this host alone, so that a host beside it cannot plant a session. Of two
 * cookies with one name it cannot be told which is ours, so none counts.
 */

export const SESSION_COOKIE = 'ci_insights_session';
const SECURE_NAME = `__Host-${SESSION_COOKIE}`;

/** Whether the service is reached with TLS: as its public address says, or else as the page that asks says. */
export const isReachedSecurely = (publicUrl: string | undefined, request: Request): boolean =>
  (publicUrl ?? request.headers.get('origin') ?? '').startsWith('https:');

/** The one value of a cookie; undefined if a request has none, or several. */
export function cookieOf(request: Request, name: string): string | undefined {
  const prefix = `${name}=`;
  const pairs = (request.headers.get('cookie') ?? '').split(';').map((pair) => pair.trim());
  const values = pairs.filter((pair) => pair.startsWith(prefix));
  return values.length === 1 ? values[0]?.slice(prefix.length) : undefined;
}

/** The token in a request's cookie; undefined if it has none. Without a public address, the safer name counts. */
export function sessionTokenOf(request: Request, publicUrl: string | undefined): string | undefined {
  const token = cookieOf(request, nameOf(hasSecureSession(request, publicUrl)));
  return token !== undefined && /^[\w-]+$/.test(token) ? token : undefined;
}

/** Whether the session of a request is in the cookie for TLS. */
export function hasSecureSession(request: Request, publicUrl: string | undefined): boolean {
  if (publicUrl !== undefined) return publicUrl.startsWith('https:');
  return new RegExp(`(?:^|;)\\s*${SECURE_NAME}=`).test(request.headers.get('cookie') ?? '');
}

const nameOf = (isSecure: boolean): string => (isSecure ? SECURE_NAME : SESSION_COOKIE);

/** The `Set-Cookie` that gives a browser a session. Its end is an age, because the browser's clock may differ from ours. */
export const sessionCookie = (token: string, lifetimeMs: number, isSecure: boolean): string =>
  `${nameOf(isSecure)}=${token}; Path=/; Max-Age=${Math.max(0, Math.floor(lifetimeMs / 1_000))}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/** The `Set-Cookie` that takes it away. */
export const noSessionCookie = (isSecure: boolean): string => sessionCookie('', 0, isSecure);
