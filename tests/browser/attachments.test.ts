/** Links to what was kept of a failed attempt, on the page of its test and on that of its commit, in a real browser. */
import { describe, expect, test } from 'bun:test';
import type { Page } from 'playwright-core';
import type { Attachment } from '../../src/domain/attachments.ts';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, isWithinWidth, PHONE, violationsOn, WIDE } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';

const FILES = 'https://files.example/runs/7';
const MARKUP = '<img src=x onerror=alert(1)>';
/** Jobs as a producer may send them: the gateway sends no address but https. */
const SENT: Attachment[] = [
  { kind: 'screenshot', name: 'cart', url: `${FILES}/cart.png` },
  { kind: 'trace', name: '', url: `${FILES}/trace.zip` },
  { kind: 'log', name: MARKUP, url: `${FILES}/server.log` },
  { kind: 'video', name: 'script', url: 'javascript:alert(1)' },
  { kind: 'file', name: 'data', url: 'data:text/html,<script>alert(1)</script>' },
  { kind: 'file', name: 'plain', url: 'http://files.example/core.bin' },
  { kind: 'file', name: 'secret', url: 'https://me:secret@files.example/core.bin' },
];
const SHOWN = [
  ['screenshot: cart', `${FILES}/cart.png`],
  ['trace', `${FILES}/trace.zip`],
  [`log: ${MARKUP}`, `${FILES}/server.log`],
];

const insights = setUpInsights((fixture) =>
  fixture.ingest(
    fixture.run([{ name: 'pays', at: at(1) }, ...beside(1)], { commit: 'c0' }),
    fixture.run(
      [
        {
          name: 'pays',
          status: 'failed',
          at: at(2),
          failures: [{ type: 'Error', message: 'no courier', attachments: SENT }],
        },
        ...beside(2),
      ],
      { commit: 'c1' },
    ),
  ),
);
const pages = setUpPages(insights);

/** Text and address of all links that lead elsewhere. */
const outwardLinksOn = async (page: Page): Promise<(string | null)[][]> =>
  Promise.all(
    (await page.locator('main a[target=_blank]').all()).map(async (link) => [
      await link.textContent(),
      await link.getAttribute('href'),
    ]),
  );

describe.skipIf(!hasBrowser)('attachments', () => {
  test.each([WIDE, PHONE])('of a failure are links on the page of its test, https only: %j', async (viewport) => {
    await pages.on({ viewport }, async ({ page, open }) => {
      await open(`${pages.base}/tests/${testIdOf(insights.fixture.id, 'pays')}`);
      await page.getByRole('button', { name: /no courier/ }).click();
      await page.getByRole('link', { name: 'screenshot: cart' }).waitFor();
      expect(await outwardLinksOn(page)).toEqual(SHOWN);
      for (const hidden of ['alert(1)', 'core.bin', 'data:'])
        expect(await page.locator(`[href*="${hidden}"], [src*="${hidden}"]`).count()).toBe(0);
      expect(await isWithinWidth(page)).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('of a failure are links on the page of its commit', async () => {
    await pages.on({ viewport: WIDE }, async ({ page, open }) => {
      await open(`${pages.base}/commits/c1`);
      await page.getByRole('link', { name: 'screenshot: cart' }).waitFor();
      expect(await outwardLinksOn(page)).toEqual(SHOWN);
    });
  });

  test('open apart, and their page learns nothing of ours', async () => {
    await pages.on({ viewport: WIDE }, async ({ page, open, context }) => {
      const asked: (string | undefined)[] = [];
      await context.route(`${FILES}/**`, async (route) => {
        asked.push((await route.request().allHeaders()).referer);
        await route.fulfill({ contentType: 'text/html', body: '<title>a file</title>' });
      });
      await open(`${pages.base}/commits/c1`);
      const link = page.getByRole('link', { name: 'screenshot: cart' });
      expect((await link.getAttribute('rel'))?.split(' ')).toEqual(expect.arrayContaining(['noopener', 'noreferrer']));
      const [opened] = await Promise.all([context.waitForEvent('page'), link.click()]);
      await opened.waitForLoadState();
      expect(await opened.evaluate('[document.title, window.opener, document.referrer]')).toEqual(['a file', null, '']);
      expect(asked).toEqual([undefined]);
      expect(page.url()).toContain('/commits/c1');
    });
  });
});
