/** Every page of the web application in a real browser: odd names, readers with other needs, a service in trouble. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, type Visit, violationsOn, visit } from '../support/browser.ts';
import { at, ingestHistory, NAME, setUpInsights } from '../support/insights.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';

const HOSTILE = [
  '<img src=x onerror="document.title=1"> <script>document.title=1</script>',
  '"><svg onload=alert(1)>',
  `${'very '.repeat(400)}long`,
  '../../../v1/session?x=1#y',
  'עברית العربية 🧪 ‮ reversed',
];
const insights = setUpInsights(async (fixture) => {
  await ingestHistory(fixture);
  const failure = {
    type: '<b>Error</b>',
    message: '<img src=x onerror="document.title=1">',
    stacktrace: '</pre><script>',
  };
  await fixture.ingest(
    fixture.run(
      HOSTILE.map((name, i) => ({ name, at: at(2 + i), status: 'failed', failures: [failure] })),
      { job_name: '<i>job</i>', job_url: 'javascript:document.title=1' },
    ),
  );
});

let service: ServiceApp;
let origin: string;
let base: string;
beforeAll(async () => {
  if (!hasBrowser) return;
  service = await openServiceApp();
  origin = `http://127.0.0.1:${service.port}`;
  const { owner, name } = insights.fixture.repository;
  base = `/${owner}/${name}`;
});
afterAll(() => service?.stop());

/** Runs with a page of an admin, and fails if a script failed or the policy refused something. */
async function on(options: Parameters<typeof visit>[1], run: (visit: Visit) => Promise<void>): Promise<void> {
  const opened = await visit(origin, { key: service.adminToken, ...options });
  try {
    await run(opened);
    expect(opened.errors).toEqual([]);
  } finally {
    await opened.context.close();
  }
}

describe.skipIf(!hasBrowser)('every page of the web application', () => {
  test('shows hostile names, messages and addresses as the text that they are', async () => {
    await on({}, async ({ page, open }) => {
      for (const name of HOSTILE) {
        await open(`${base}/tests?q=${encodeURIComponent(name)}`);
        await page.locator('[data-index="0"] a').click();
        await page.getByRole('heading', { level: 1 }).waitFor();
        expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
        await page.getByRole('region', { name: 'Failures' }).getByRole('button').first().click();
        await page.getByText('</pre><script>').waitFor();
        expect(await page.locator('a[href^="javascript"], main img, main script, main b').count()).toBe(0);
        expect(await page.title()).toContain('ci-insights');
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      }
    });
  }, 60_000);

  test.each(['light', 'dark'] as const)(
    'has nothing that axe objects to, on any page, %s',
    async (colorScheme) => {
      await on({ colorScheme, reducedMotion: 'reduce' }, async ({ page, open }) => {
        const check = async () => expect([page.url(), await violationsOn(page)]).toEqual([page.url(), []]);
        for (const path of [
          '/sign-in',
          '',
          '/operations',
          `${base}/tests`,
          `${base}/runs`,
          `${base}/commits/b2`,
          `${base}/quarantines`,
          `${base}/events`,
          '/acme/nothing-yet',
          '/nope',
        ]) {
          await open(path);
          await check();
        }
        await open(`${base}/tests?q=${encodeURIComponent(NAME)}`);
        await page.locator('[data-index="0"] a').click();
        await page.getByRole('region', { name: 'Failures' }).getByRole('button').first().click();
        await page.getByRole('button', { name: 'Why is it judged so?' }).click();
        await page.getByRole('heading', { level: 3 }).first().waitFor();
        await check();
        await page.getByRole('button', { name: 'Quarantine …' }).click();
        await check();
      });
    },
    60_000,
  );

  test('fits the width of a phone, and needs no more than fingers', async () => {
    await on({ viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }, async ({ page, open }) => {
      for (const path of [
        '/sign-in',
        '',
        '/operations',
        `${base}/tests`,
        `${base}/runs`,
        `${base}/commits/b2`,
        `${base}/quarantines`,
        `${base}/events`,
        '/acme/nothing-yet',
      ]) {
        await open(path);
        const isWithin = await page.evaluate('document.documentElement.scrollWidth <= innerWidth');
        expect([path, isWithin]).toEqual([path, true]);
      }
      await open(`${base}/tests?q=${encodeURIComponent(NAME)}`);
      await page.locator('[data-index="0"] a').tap();
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('networkidle');
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
    });
  }, 60_000);

  test('says what is wrong when the service is slow, refuses or is away, and recovers', async () => {
    await on({}, async ({ page, open }) => {
      const isSearch = /\/search\/tests/;
      await page.route(isSearch, async (route) => {
        await Bun.sleep(1_500);
        await route.continue();
      });
      await page.goto(`${origin}/app${base}/tests`);
      await page.getByRole('status', { name: 'Loading' }).waitFor();
      await page.locator('[data-index="0"]').waitFor();
      await page.unroute(isSearch);

      const problem = { type: 'about:blank', title: 'Service unavailable', status: 503, detail: 'ClickHouse is away.' };
      await page.route(isSearch, (route) =>
        route.fulfill({
          status: 503,
          headers: { 'x-request-id': 'r-4711' },
          contentType: 'application/problem+json',
          body: JSON.stringify(problem),
        }),
      );
      await open(`${base}/tests`);
      await page.getByRole('alert').getByText('ClickHouse is away.').waitFor();
      await page.getByText('r-4711').waitFor();
      await page.unroute(isSearch);
      await page.route(isSearch, (route) => route.abort());
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('alert').getByText('does not answer').waitFor();
      await page.unroute(isSearch);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.locator('[data-index="0"]').waitFor();
    });
  }, 60_000);

  test('shows operators keys and sessions, which they make and end', async () => {
    await on({}, async ({ page, open }) => {
      await open('/operations?view=access');
      await page.getByLabel('Name').fill('made in a browser');
      await page.getByLabel('Owner').fill('acme');
      await page.getByRole('button', { name: 'Make a key' }).click();
      const token = await page.getByText(/^cii_/).textContent();
      const asked = () => fetch(`${origin}/v1/session`, { headers: { authorization: `Bearer ${token}` } });
      expect((await asked()).status).toBe(200);
      await page.getByRole('button', { name: 'Revoke made in a browser' }).click();
      await page.getByRole('button', { name: 'Revoke made in a browser' }).waitFor({ state: 'detached' });
      expect((await asked()).status).toBe(403);
    });
    const view = await service.makeKey({ scope: 'view' });
    await on({ key: view }, async ({ page, open }) => {
      await open('');
      expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0);
    });
  }, 30_000);

  test('changes without a reload when the first report arrives', async () => {
    const another = insights.fixture.another();
    const { owner, name } = another.repository;
    await on({}, async ({ page, open }) => {
      await open(`/${owner}/${name}`);
      await page.getByText('Waiting for the first report').waitFor();
      await page.getByRole('button', { name: 'Make a key' }).click();
      await page.getByText(/export CI_INSIGHTS_TOKEN=cii_[\w-]{43}/).waitFor();
      await another.ingest(another.run([{ name: 'the first test' }]));
      await page.getByRole('link', { name: 'the first test' }).waitFor();
    });
  }, 30_000);
});
