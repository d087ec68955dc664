/** A link that signs an operator in once: for who starts the service, or has access to where it runs. */
import { type NewSession, PASS_MINUTES, type SessionStore } from '../postgres/sessions.ts';

/** How long a link may be used. */
export const LINK_MINUTES = PASS_MINUTES;

/**
 * @param address where the service is reached, without a trailing slash
 * @param by in whose name the session acts; with `keyId`, it ends with that key
 */
export async function signInLink(
  sessions: SessionStore,
  address: string,
  by: Pick<NewSession, 'keyId' | 'actor'>,
): Promise<string> {
  const { pass } = await sessions.offer({ ...by, scope: 'admin', owner: null, repositories: null });
  // Behind the `#`: browsers send it to no one, so neither this service nor a proxy writes it into a log.
  return `${address}/app/sign-in#${pass}`;
}
