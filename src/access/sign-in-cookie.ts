/**
 * The cookie that ties a sign-in with an identity provider to the browser that began it. It is neither signed nor
 * encrypted: anyone who can write it can as well begin a sign-in, and it holds nothing that its browser may not know.
 */
import { z } from 'zod';
import { jsonOf } from '../domain/json.ts';
import { cookieOf } from '../http/session-cookie.ts';
import type { SignInAttempt } from './identity-provider.ts';

/** How long a person may take. */
const ATTEMPT_S_MAX = 600;
const LENGTH_MAX = 4_000;

const attemptSchema = z.object({
  state: z.string(),
  nonce: z.string(),
  verifier: z.string(),
  /** The view to open afterwards. */
  to: z.string(),
  startedAt: z.number(),
});
type KeptAttempt = z.infer<typeof attemptSchema>;

/** With TLS, a name that browsers take from this host alone, so that one beside it cannot plant a sign-in. */
const nameOf = (isSecure: boolean): string => `${isSecure ? '__Host-' : ''}ci_insights_sign_in`;

/** `Lax`: the browser must send it when it comes back from the provider. */
const cookie = (value: string, maxAge: number, isSecure: boolean): string =>
  `${nameOf(isSecure)}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${isSecure ? '; Secure' : ''}`;

/** The `Set-Cookie` of a sign-in that begins. */
export function attemptCookie(attempt: SignInAttempt & { to: string }, now: number, isSecure: boolean): string {
  const kept: KeptAttempt = { ...attempt, startedAt: now };
  return cookie(Buffer.from(JSON.stringify(kept)).toString('base64url'), ATTEMPT_S_MAX, isSecure);
}

/** The `Set-Cookie` that takes it away. */
export const noAttemptCookie = (isSecure: boolean): string => cookie('', 0, isSecure);

/** The sign-in that this browser began; undefined if there is none, or it began too long ago. */
export function attemptOf(request: Request, now: number, isSecure: boolean): KeptAttempt | undefined {
  const value = cookieOf(request, nameOf(isSecure));
  if (!value || value.length > LENGTH_MAX) return undefined;
  const parsed = attemptSchema.safeParse(jsonOf(Buffer.from(value, 'base64url').toString()));
  if (!parsed.success) return undefined;
  const age = now - parsed.data.startedAt;
  return age >= 0 && age < ATTEMPT_S_MAX * 1_000 ? parsed.data : undefined;
}
