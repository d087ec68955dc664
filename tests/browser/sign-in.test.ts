/** Signing in with an identity provider in a real browser, for which the provider is another site. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseSignInRules } from '../../src/domain/sign-in-rules.ts';
import { hasBrowser, violationsOn, visit } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from '../support/identity-provider.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';

const ANN = { sub: 'ann', email: 'ann@acme.example', email_verified: true };

let provider: TestProvider;
let service: ServiceApp;
let origin: string;
beforeAll(async () => {
  if (!hasBrowser) return;
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  provider = await startProvider([`${origin}/sign-in/oidc/callback`]);
  const oidc = {
    issuer: provider.issuer,
    clientId: CLIENT_ID,
    clientSecret: CLIENT_SECRET,
    rules: parseSignInRules('domain:acme.example view acme') ?? [],
    scopes: 'openid email',
    groupsClaim: 'groups',
    tenants: [],
    audiences: [],
    hasHostedDomains: false,
  };
  service = await openServiceApp({ port, oidc });
});
afterAll(async () => {
  await service?.stop();
  await provider?.stop();
});

describe.skipIf(!hasBrowser)('a person', () => {
  test('signs in with the provider, sees what they asked for under their name, and signs out', async () => {
    provider.person = ANN;
    const { page, context, errors, open } = await visit(origin);
    await open('/acme/shop/tests?q=sums');
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: `Sign in with ${new URL(provider.issuer).host}` }).click();
    await page.getByText('ann@acme.example').waitFor();
    expect(page.url()).toBe(`${origin}/app/acme/shop/tests?q=sums`);
    expect(await page.evaluate('document.cookie')).toBe('');
    expect((await context.cookies(origin)).map(({ name, sameSite }) => [name, sameSite])).toEqual([
      ['ci_insights_session', 'Strict'],
    ]);
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Application key').waitFor();
    expect(await context.cookies(origin)).toEqual([]);
    expect(errors).toEqual([]);
    await context.close();
  });

  test('whom no rule names reads why, and finds the way back', async () => {
    provider.person = { sub: 'bob', email: 'bob@elsewhere.example', email_verified: true };
    const { page, context, errors } = await visit(origin);
    await page.goto(`${origin}/sign-in/oidc`);
    await page.getByText('knows you as bob@elsewhere.example, but no rule of this service lets you in').waitFor();
    expect(await violationsOn(page)).toEqual([]);
    await page.getByRole('link', { name: 'Back to the sign-in page' }).click();
    await page.getByLabel('Application key').waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });
});
