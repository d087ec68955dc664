/** Signing in with an identity provider: the way to it, and back with a session. Pages for browsers, not JSON. */
import type { AnyElysia } from 'elysia';
import { grantOfPerson, type SignInRule } from '../domain/sign-in-rules.ts';
import { HOUR_MS } from '../domain/time.ts';
import { StoreUnavailable } from '../errors.ts';
import { type Http, mount } from '../http/operation.ts';
import { sessionCookie } from '../http/session-cookie.ts';
import { noteActor } from '../observability/requests.ts';
import type { SessionStore } from '../postgres/sessions.ts';
import { UNCONFIRMED_MS_MAX } from './confirmation.ts';
import { type IdentityProvider, ProviderUnavailable, SignInRefused } from './identity-provider.ts';
import { sealRenewal } from './renewal.ts';
import { SIGN_INS_AT_ONCE_MAX } from './sessions.ts';
import { attemptCookie, attemptOf, noAttemptCookie } from './sign-in-cookie.ts';
import { refusalPage } from './sign-in-page.ts';

/** A working day. */
const SESSION_MS = 12 * HOUR_MS;
const TO_LENGTH_MAX = 2_000;
const PATH = '/sign-in/oidc';
const CALLBACK = `${PATH}/callback`;

interface SignInDeps {
  sessions: SessionStore;
  /** Undefined: people sign in with keys only. */
  identity: { provider: IdentityProvider; rules: readonly SignInRule[] } | undefined;
}

const page = (description: string) => ({ description, mediaType: 'text/html', example: '<!doctype html>…' });
const REFUSALS = {
  404: page('No identity provider is configured.'),
  503: page('The identity provider or a store is unavailable right now. Signing in with a key still works.'),
};
const cookieHeader = (description: string) => ({
  location: { description: 'Where the browser goes next.', schema: { type: 'string' } },
  'set-cookie': { description, schema: { type: 'string' } },
});

export function mountSignIn(app: AnyElysia, http: Http, { sessions, identity }: SignInDeps): void {
  const { clock, log, publicUrl = '' } = http;
  const isSecure = publicUrl.startsWith('https:');
  const base = URL.parse(publicUrl)?.pathname.replace(/\/$/, '') ?? '';

  const refused = (status: number, sentence: string): Response => {
    const response = refusalPage(status, sentence, base);
    if (status === 503) response.headers.set('retry-after', '5');
    response.headers.append('set-cookie', noAttemptCookie(isSecure));
    return response;
  };

  /** The page for what was thrown. */
  const refusalOf = (error: unknown, requestId: string): Response => {
    if (error instanceof SignInRefused) {
      log.info({ request_id: requestId, reason: error.reason }, 'a sign-in was refused');
      return refused(403, `${error.message} Sign in again.`);
    }
    if (error instanceof ProviderUnavailable) {
      log.warn({ request_id: requestId, reason: error.reason }, 'the identity provider is of no use');
      return refused(
        503,
        'The identity provider is unavailable right now, or refuses this service. Try again later, or sign in with an application key.',
      );
    }
    if (!(error instanceof StoreUnavailable)) throw error;
    log.warn({ err: error, request_id: requestId }, 'a sign-in could not be finished');
    return refused(503, 'The service cannot begin a session right now. Try again later.');
  };
  const missing = (): Response =>
    refused(404, 'This service has no identity provider. Sign in with an application key.');

  mount(app, http, 'GET', PATH, {
    operationId: 'beginSignIn',
    tag: 'Service',
    summary: 'Sign in with the identity provider',
    description:
      'For browsers: leads to the identity provider of `OIDC_ISSUER`. `?to=` names the view of the web application to open afterwards, such as `/acme/shop/tests`.',
    access: 'public',
    atOnceMax: SIGN_INS_AT_ONCE_MAX,
    responses: {
      302: { description: 'On to the provider.', headers: cookieHeader('Ties the sign-in to this browser.') },
      ...REFUSALS,
    },
    handle: async ({ url, requestId }) => {
      if (!identity) return missing();
      try {
        const { address, attempt } = await identity.provider.begin(`${publicUrl}${CALLBACK}`);
        const to = viewOf(url.searchParams.get('to'));
        return redirect(address, attemptCookie({ ...attempt, to }, clock.now(), isSecure));
      } catch (error) {
        return refusalOf(error, requestId);
      }
    },
  });

  mount(app, http, 'GET', CALLBACK, {
    operationId: 'finishSignIn',
    tag: 'Service',
    summary: 'Return from the identity provider',
    description:
      'For browsers: where the identity provider sends a person back. If a rule of `OIDC_ACCESS` names them, they get a session as a cookie that no script can read: of 12 hours if the provider can be asked again whether they still have access, else of 15 minutes.',
    access: 'public',
    atOnceMax: SIGN_INS_AT_ONCE_MAX,
    isWrite: true,
    responses: {
      302: { description: 'Signed in; on to the web application.', headers: cookieHeader('The session.') },
      403: page('The sign-in was not begun in this browser, is too old, was refused, or no rule names the person.'),
      ...REFUSALS,
    },
    handle: async ({ request, url, requestId }) => {
      if (!identity) return missing();
      const { provider, rules } = identity;
      try {
        const attempt = attemptOf(request, clock.now(), isSecure);
        // Before the provider is asked: a page of another site can send anyone here.
        if (!attempt || url.searchParams.get('state') !== attempt.state)
          throw new SignInRefused(
            'not begun here',
            'This sign-in was not begun in this browser, was finished before, or took too long.',
          );
        const answer = new URL(`${publicUrl}${CALLBACK}${url.search}`);
        const { person, refreshToken } = await provider.finish(answer, attempt);
        const grant = grantOfPerson(rules, person);
        if (!grant) {
          log.info({ request_id: requestId, reason: 'no rule' }, 'a sign-in was refused');
          return refused(
            403,
            `${provider.host} knows you as ${person.name}, but no rule of this service lets you in. Ask an operator to add one to OIDC_ACCESS.`,
          );
        }
        const { name: actor, subject } = person;
        const lifetimeMs = refreshToken === undefined ? UNCONFIRMED_MS_MAX : SESSION_MS;
        const { token, session } = await sessions.begin(
          { keyId: null, actor, subject, ...grant },
          {
            lifetimeMs,
            requestId,
            ...(refreshToken !== undefined && { renewal: (made: string) => sealRenewal(made, refreshToken) }),
          },
        );
        noteActor(request, { actor, session_id: session.id, subject });
        const response = redirect(`${base}/app${attempt.to}`, sessionCookie(token, lifetimeMs, isSecure));
        response.headers.append('set-cookie', noAttemptCookie(isSecure));
        return response;
      } catch (error) {
        return refusalOf(error, requestId);
      }
    },
  });
}

/** A path below the application; nothing for what is none. */
const viewOf = (to: string | null): string => {
  if (to === null || to.length > TO_LENGTH_MAX || !/^\/(?![/\\])[\x21-\x7e]*$/.test(to)) return '';
  return to === '/' ? '' : to;
};

const redirect = (location: string, cookie: string): Response =>
  new Response(null, { status: 302, headers: { location, 'set-cookie': cookie, 'cache-control': 'no-store' } });
