/**
 * When nobody is signed in any more: the way back in. The identity provider most likely still knows whom it vouched for, so
 * the way to it needs no click; others come to the sign-in page.
 */
import { BASE, PROVIDER } from './client.ts';

/** An address of the application as the sign-in takes it: a path below it. */
export const viewOf = (href: string): string => (href === '/' ? '' : href.replace(`${BASE}/app`, ''));

const MARK = 'ci-insights-signed-in-with-provider';

/** Keeps in the browser who gave the session, because the session that has ended does not say. */
export function rememberProvider(isFromProvider: boolean): void {
  try {
    if (isFromProvider) localStorage.setItem(MARK, 'true');
    else localStorage.removeItem(MARK);
  } catch {
    // A browser that keeps nothing shows the sign-in page.
  }
}

/**
 * Leaves for the identity provider if it gave the session that has ended. Only once for each sign-in: a browser that keeps
 * no cookies would go there for ever.
 *
 * @param view the path below the application to come back to
 */
export function leaveForProvider(view: string): boolean {
  let isKnown = false;
  try {
    isKnown = PROVIDER !== undefined && localStorage.getItem(MARK) !== null;
  } catch {
    // It keeps nothing.
  }
  if (!isKnown) return false;
  rememberProvider(false);
  window.location.assign(`${BASE}/sign-in/oidc?${new URLSearchParams({ to: view })}`);
  return true;
}
