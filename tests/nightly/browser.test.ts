/** The web application in a real browser: odd names, a service in trouble, keys, the first report. Pages as such: `pages.test.ts`. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, isWithinWidth, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { HOSTILE, ingestHostile } from '../support/hostile-names.ts';
import { ingestHistory, NAME, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(async (fixture) => {
  await ingestHistory(fixture);
  await ingestHostile(fixture);
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('the web application', () => {
  test('shows hostile names, messages and addresses as the text that they are', async () => {
    await pages.on({}, async ({ page, open }) => {
      for (const name of HOSTILE) {
        await open(`${pages.base}/tests?q=${encodeURIComponent(name)}`);
        await page.locator('[data-index="0"] a').click();
        await page.getByRole('region', { name: 'Failures' }).waitFor();
        expect(await page.getByRole('heading', { level: 1 }).textContent()).toBe(name);
        await page.getByRole('region', { name: 'Failures' }).getByRole('button').first().click();
        await page.getByText('</pre><script>').waitFor();
        expect(await page.locator('a[href^="javascript"], main img, main script, main b').count()).toBe(0);
        expect(await page.title()).toContain('ci-insights');
        expect(await isWithinWidth(page)).toBe(true);
      }
    });
  });

  test.each(['light', 'dark'] as const)(
    'has nothing that axe objects to in what one opens on the page of a test, %s',
    async (colorScheme) => {
      await pages.on({ colorScheme, reducedMotion: 'reduce' }, async ({ page, open }) => {
        await open(`${pages.base}/tests?q=${encodeURIComponent(NAME)}`);
        await page.locator('[data-index="0"] a').click();
        await page.getByRole('region', { name: 'Failures' }).getByRole('button').first().click();
        await page.getByRole('button', { name: /^Why is it/ }).click();
        await page.getByRole('heading', { level: 3 }).first().waitFor();
        expect(await violationsOn(page)).toEqual([]);
        await page.getByRole('button', { name: 'Quarantine …' }).click();
        expect(await violationsOn(page)).toEqual([]);
      });
    },
  );

  test('needs no more than fingers', async () => {
    await pages.on(
      { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true },
      async ({ page, open }) => {
        await open(`${pages.base}/tests?q=${encodeURIComponent(NAME)}`);
        await page.locator('[data-index="0"] a').tap();
        await page.getByRole('heading', { level: 1 }).waitFor();
        await page.waitForLoadState('networkidle');
        expect(await isWithinWidth(page)).toBe(true);
      },
    );
  });

  test('says what is wrong when the service is slow, refuses or is away, and recovers', async () => {
    await pages.on({}, async ({ page, open }) => {
      const isSearch = /\/search\/tests/;
      await page.route(isSearch, async (route) => {
        await Bun.sleep(1_500);
        await route.continue();
      });
      await page.goto(`${pages.origin}/app${pages.base}/tests`);
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
      await open(`${pages.base}/tests`);
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
  });

  test('shows operators keys and sessions, which they make and end', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open('/operations?view=access');
      await page.getByLabel('Name').fill('made in a browser');
      await page.getByLabel('Owner').fill('acme');
      await page.getByRole('button', { name: 'Make a key' }).click();
      const token = await page.getByText(/^cii_/).textContent();
      const asked = () => fetch(`${pages.origin}/v1/session`, { headers: { authorization: `Bearer ${token}` } });
      expect((await asked()).status).toBe(200);
      await page.getByRole('button', { name: 'Revoke made in a browser' }).click();
      await page.getByRole('button', { name: 'Revoke made in a browser' }).waitFor({ state: 'detached' });
      expect((await asked()).status).toBe(403);
    });
    const view = await pages.service.makeKey({ scope: 'view' });
    await pages.on({ key: view }, async ({ page, open }) => {
      await open('');
      expect(await page.getByRole('link', { name: 'Operations' }).count()).toBe(0);
    });
  });

  test('changes without a reload when the first report arrives', async () => {
    const another = insights.fixture.another();
    const { owner, name } = another.repository;
    await pages.on({}, async ({ page, open }) => {
      await open(`/${owner}/${name}/tests`);
      await page.getByText('Waiting for the first report').waitFor();
      await page.getByRole('button', { name: 'Key', exact: true }).click();
      await page.getByRole('button', { name: 'Make a key' }).click();
      await page.getByText(/^cii_[\w-]{43}$/).waitFor();
      await another.ingest(another.run([{ name: 'the first test' }]));
      await page.getByRole('link', { name: 'the first test' }).waitFor();
    });
  });
});
