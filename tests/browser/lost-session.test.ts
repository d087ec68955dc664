/** A session that has ended leads to signing in, and back to where one was: from every read and from every change. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { parseSignInRules } from '../../src/domain/sign-in-rules.ts';
import { hasBrowser, type Visit, violationsOn, visit } from '../support/browser.ts';
import { freePort } from '../support/free-port.ts';
import { CLIENT_ID, CLIENT_SECRET, startProvider, type TestProvider } from '../support/identity-provider.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const ANN = { sub: 'ann', email: 'ann@acme.example', email_verified: true };
const { owner, name } = uniqueRepository();
const base = `/${owner}/${name}`;

let provider: TestProvider;
let service: ServiceApp;
let origin: string;
let key: string;
beforeAll(async () => {
  if (!hasBrowser) return;
  const port = await freePort();
  origin = `http://127.0.0.1:${port}`;
  provider = await startProvider([`${origin}/sign-in/oidc/callback`]);
  service = await openServiceApp({
    port,
    oidc: {
      issuer: provider.issuer,
      clientId: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      rules: parseSignInRules(`domain:acme.example view ${owner}`) ?? [],
      scopes: 'openid email',
      groupsClaim: 'groups',
      tenants: [],
      audiences: [],
      hasHostedDomains: false,
    },
  });
  key = await service.makeKey({ scope: 'admin', name: 'who comes back' });
  const recorded = await service.stores.repositories.record({ host: 'github.com', owner, name });
  const wanted = { testName: 'is quarantined', reason: 'flaky', branch: null };
  await service.stores.quarantines.create(recorded.id, wanted, { name: 'ann', actor: null });
});
afterAll(async () => {
  await service?.stop();
  await provider?.stop();
});

/** Signs in again on the page that one was led to. Returns the address that one comes back to. */
async function comeBack({ page }: Visit): Promise<string> {
  await page.getByLabel('Application key').fill(key);
  expect(await page.getByRole('alert').count()).toBe(0);
  expect(new URL(page.url()).pathname).toBe('/app/sign-in');
  await page.keyboard.press('Enter');
  await page.getByText('who comes back').first().waitFor();
  return page.url().slice(`${origin}/app`.length);
}

/** Things that one does on a page after its session has ended. */
const DEEDS: Record<string, { at: string; act(visit: Visit): Promise<unknown> }> = {
  'a tab': { at: `${base}/quarantines`, act: ({ page }) => page.getByRole('link', { name: 'Runs' }).click() },
  'a change': {
    at: '/operations?view=access',
    act: async ({ page }) => {
      await page.getByLabel('Name').fill('too late');
      await page.getByRole('button', { name: 'Make a key' }).click();
    },
  },
  'a search': { at: `${base}/runs`, act: ({ page }) => page.getByRole('searchbox').first().fill('main') },
  'a list that is read again and again': { at: '/operations', act: async () => undefined },
};

describe.skipIf(!hasBrowser)('a session that has ended', () => {
  test.each(Object.keys(DEEDS))('leads to the sign-in page and back, by %s', async (name) => {
    const deed = DEEDS[name];
    if (!deed) throw new Error(name);
    const opened = await visit(origin, { key });
    await opened.open(deed.at);
    await opened.context.clearCookies();
    await deed.act(opened);
    await opened.page.getByLabel('Application key').waitFor();
    expect(await violationsOn(opened.page)).toEqual([]);
    const back = await comeBack(opened);
    if (name === 'a tab') expect(back).toBe(`${base}/runs`);
    else expect(back.split('?')[0]).toBe(deed.at.split('?')[0] ?? '');
    expect(opened.errors).toEqual([]);
    await opened.context.close();
    const { rows } = await service.stores.postgres.pool.query(
      "select 1 from ci_insights.application_keys where name = 'too late'",
    );
    expect(rows).toEqual([]);
  });

  test('is not taken for one that may not do something', async () => {
    const opened = await visit(origin, { key: await service.makeKey({ scope: 'view', owner: 'another' }) });
    await opened.open(`${base}/runs`);
    await opened.page.getByRole('alert').getByText('Forbidden').waitFor();
    expect(new URL(opened.page.url()).pathname).toBe(`/app${base}/runs`);
    await opened.context.close();
  });

  test('of the identity provider leads to it, and back without a click', async () => {
    provider.person = ANN;
    const { page, context, open, errors } = await visit(origin);
    await open(`${base}/quarantines`);
    await page.getByRole('link', { name: 'Sign in with' }).click();
    await page.getByText('is quarantined').first().waitFor();
    await context.clearCookies({ name: 'ci_insights_session' });
    await page.getByRole('link', { name: 'Runs' }).click();
    await page.waitForURL(`${origin}/app${base}/runs`);
    await page.getByText('Nothing has run').first().waitFor();
    expect((await context.cookies(origin)).map((cookie) => cookie.name)).toContain('ci_insights_session');
    // Someone who leaves comes to the sign-in page, also when they return.
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Application key').waitFor();
    await open(`${base}/runs`);
    await page.getByLabel('Application key').waitFor();
    expect(errors).toEqual([]);
    await context.close();
  });
});
