/** The cookie that holds the token of a session. No script can read it, and no other site's page makes a browser send it. */

export const SESSION_COOKIE = 'ci_insights_session';
const COOKIE = new RegExp(`(?:^|;\\s*)${SESSION_COOKIE}=([\\w-]+)`);

/** The token in a request's cookie; undefined if it has none. */
export const sessionTokenOf = (request: Request): string | undefined =>
  COOKIE.exec(request.headers.get('cookie') ?? '')?.[1];

/** The `Set-Cookie` that gives a browser a session. Its end is an age, because the browser's clock may differ from ours. */
export const sessionCookie = (token: string, lifetimeMs: number, isSecure: boolean): string =>
  `${SESSION_COOKIE}=${token}; Path=/; Max-Age=${Math.max(0, Math.floor(lifetimeMs / 1_000))}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}`;

/** The `Set-Cookie` that takes it away. */
export const noSessionCookie = (isSecure: boolean): string => sessionCookie('', 0, isSecure);
