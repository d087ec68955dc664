/** How many requests a page waits for, one after the other. Answers are held back, so no time is measured. */
import { describe, expect, test } from 'bun:test';
import type { Page, Route } from 'playwright-core';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, type Visit } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { ingestHistory, NAME, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);

/** Holds back answers whose address matches, until they are let go. */
async function hold(page: Page, address: RegExp) {
  const held: Route[] = [];
  let isOpen = false;
  await page.route(address, async (route) => {
    if (isOpen) return route.continue();
    held.push(route);
  });
  return {
    letGo: async () => {
      isOpen = true;
      await Promise.all(held.map((route) => route.continue()));
    },
  };
}

/** Goes to a page without waiting for it. Returns when each of these was asked for. */
async function asks({ page }: Visit, address: string, paths: readonly string[]): Promise<void> {
  const asked = paths.map((path) => page.waitForRequest((request) => new URL(request.url()).pathname.endsWith(path)));
  await page.goto(`${pages.origin}/app${address}`, { waitUntil: 'commit' });
  await Promise.all(asked);
}

describe.skipIf(!hasBrowser)('a page asks', () => {
  test('for everything about a test before any answer has come', async () => {
    await pages.on({}, async (visit) => {
      const id = testIdOf(insights.fixture.id, NAME);
      const answers = await hold(visit.page, /\/v1\//);
      await asks(visit, `${pages.base}/tests/${id}`, [
        ...['/v1/session', `/tests/${id}`, `/tests/${id}/segments`, `/tests/${id}/axes`, `/tests/${id}/failures`],
        ...['success_count', 'failure_count', 'flaky_count', 'mean_duration'].map((stat) => `/stats/${stat}`),
        ...['/quarantines', '/quarantine-effects', `/tests/${id}/executions`],
      ]);
      await answers.letGo();
      await visit.page.getByRole('region', { name: 'Commit by commit' }).getByRole('listitem').first().waitFor();
    });
  });

  test('for the failures of a pull request as soon as its newest commit is known, and for the rest before', async () => {
    await pages.on({}, async (visit) => {
      const answers = await hold(visit.page, /\/v1\/(?!.*\/pulls\/7)/);
      await asks(visit, `${pages.base}/pulls/7`, ['/v1/session', '/pulls/7', '/logs', '/failures', '/runs']);
      await answers.letGo();
      await visit.page.getByRole('region', { name: 'Newest commit' }).waitFor();
    });
  });

  test('for nothing twice, and before a click when one points at a link', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      const asked: string[] = [];
      page.on('request', (request) => void asked.push(request.url()));
      const link = page.getByRole('link', { name: NAME }).first();
      const details = page.waitForRequest(/\/segments/);
      await link.hover();
      await details;
      await link.click();
      await page.getByRole('region', { name: 'Commit by commit' }).getByRole('listitem').first().waitFor();
      const reads = asked.filter((url) => url.includes('/v1/'));
      expect(reads.length).toBe(new Set(reads).size);
    });
  });

  test('and shows the name of a test that a list has shown, while the rest is on its way', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/tests`);
      const answers = await hold(page, /\/tests\/[0-9a-f-]{36}/);
      await page.getByRole('link', { name: NAME }).first().click();
      await page.getByRole('heading', { level: 1, name: NAME }).waitFor();
      expect(await page.getByLabel('Loading').count()).toBe(1);
      await answers.letGo();
      await page.getByText('Last result').waitFor();
    });
  });
});
