/** The jump box: by keyboard alone, and as a screen reader has it. */
import { beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { hasBrowser, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, beside, setUpInsights } from '../support/insights.ts';
import { until } from '../support/patience.ts';

const COMMIT = '5e884898da28047151d0e56f8dc6292773603d0d';
const NAME = 'Cart > sums <b>prices</b>';

const failed = { status: 'failed' as const, failures: [{ type: 'KeyError', message: 'no such key in the cart' }] };

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(
    fixture.run([{ name: NAME, at: at(3) }, { name: 'pays', at: at(3), ...failed }, ...beside(3)], {
      commit: 'on-main',
    }),
    fixture.run([{ name: NAME, at: at(2) }], {
      branch: 'feature/tax',
      base_ref: 'main',
      pull_request: 7,
      commit: COMMIT,
    }),
  );
});
const pages = setUpPages(insights);

beforeAll(async () => {
  await insights.app.request(`${insights.fixture.base}/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ test_owners: [{ test_name: 'pays', owners: ['@acme/cart'] }] }),
  });
  await insights.fixture.settle();
});

/** Requests for these addresses wait until the returned function is called. */
async function hold(page: Page, addresses: string | RegExp): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  await page.route(addresses, async (route) => {
    await promise;
    await route.continue();
  });
  return resolve;
}

/** Waits until all places of the text are there. */
async function isComplete(page: Page): Promise<void> {
  await page
    .getByRole('status')
    .filter({ hasText: /^\d+ places?$/ })
    .waitFor({ state: 'attached' });
}

/** Presses the arrow until it has chosen the option: what is found first is chosen first, and stays when more is found above. */
async function arrowTo(page: Page, option: Locator): Promise<void> {
  const chosen = () => page.getByRole('combobox').getAttribute('aria-activedescendant');
  await option.waitFor();
  do {
    const before = await chosen();
    await page.keyboard.press('ArrowDown');
    await until(chosen, (now) => now !== before);
  } while ((await chosen()) !== (await option.getAttribute('id')));
}

describe.skipIf(!hasBrowser)('the jump box', () => {
  test.each(READERS)('leads to each kind of place by keyboard, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      await open(pages.base);
      const jump = async (text: string, key = 'Control+k') => {
        await page.keyboard.press(key);
        const field = page.getByRole('combobox', { name: /Pull request/ });
        await field.waitFor();
        await page.keyboard.type(text);
        await page.keyboard.press('Enter');
        await field.waitFor({ state: 'detached' });
      };
      await jump('#7');
      await page.getByRole('heading', { name: /#7$/ }).waitFor();
      await jump('sums <b>', '/');
      await page.getByRole('heading', { name: NAME }).waitFor();
      await jump('5E8848');
      await page.getByRole('heading', { name: `Commit ${COMMIT}` }).waitFor();
      await page.keyboard.press('Control+k');
      await page.keyboard.type('feature/t');
      // After the pull request of the branch.
      await page.getByRole('option', { name: /#7/ }).waitFor();
      await isComplete(page);
      await arrowTo(page, page.getByRole('option', { name: 'Branch feature/tax' }));
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/runs\?branch=feature%2Ftax/);
      await jump('no such key');
      await page.getByRole('heading', { name: /no such key in the cart/ }).waitFor();
      await jump('@acme/ca');
      await page.waitForURL(/\/tests\?ownedBy=%40acme%2Fcart/);
      await jump('uplo');
      await page.waitForURL(/\/uploads$/);
    });
  });

  test('names what is chosen to readers, moves with the arrows, and leaves the focus where it was', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`${pages.base}/runs`);
      const button = page.getByRole('button', { name: 'Jump to …' });
      await button.press('Enter');
      const field = page.getByRole('combobox');
      await field.and(page.locator(':focus')).waitFor();
      const options = page.getByRole('option');
      await options.first().waitFor();
      const becomesChosen = async (option: Locator) => {
        const id = await option.getAttribute('id');
        await page.locator(`[role=combobox][aria-activedescendant="${id}"]`).waitFor();
      };
      await becomesChosen(options.nth(0));
      await page.keyboard.press('ArrowDown');
      await becomesChosen(options.nth(1));
      expect(await options.nth(1).getAttribute('data-focused')).toBe('true');
      await page.keyboard.press('ArrowUp');
      await page.keyboard.press('ArrowUp');
      await becomesChosen(options.last());
      expect(await violationsOn(page)).toEqual([]);
      await page.keyboard.type('nothing is called so');
      await page.getByText('Nothing is called “nothing is called so”.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await page.keyboard.press('Escape');
      await field.waitFor({ state: 'detached' });
      // The focus moves a frame after the box has closed.
      await button.and(page.locator(':focus')).waitFor();
    });
  });

  test.each([
    ['known', ['feature/t', 'feature']],
    ['still looked for', ['feature']],
  ])('keeps the place that an arrow chose before the text settled, its places being %s', async (_, typed) => {
    await pages.on({}, async ({ page, open }) => {
      await page.clock.install();
      await open(`${pages.base}/runs`);
      await page.keyboard.press('Control+k');
      for (const text of typed) {
        await page.getByRole('combobox').fill(text);
        await page.clock.runFor(1000);
        await page.getByRole('option', { name: /#7/ }).waitFor();
        await isComplete(page);
      }
      const letThrough = await hold(page, /feature%2Ft/);
      await page.clock.pauseAt(await page.evaluate(() => Date.now() + 1000));
      await page.keyboard.type('/t');
      await arrowTo(page, page.getByRole('option', { name: 'Branch feature/tax' }));
      // The list becomes that of the whole text.
      await page.clock.runFor(1000);
      await page.clock.resume();
      await page.keyboard.press('Enter');
      await page.waitForURL(/\/runs\?branch=feature%2Ftax/, { timeout: 20_000 });
      letThrough();
    });
  });

  test('loses no key that is typed before its script is there', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(pages.base);
      await page.getByRole('button', { name: 'Jump to …' }).waitFor();
      const letThrough = await hold(page, '**/open-jump-*.js');
      await page.keyboard.press('Control+k');
      await page.keyboard.type('#7');
      await page.getByRole('textbox', { name: /Pull request/ }).waitFor();
      await page.keyboard.press('Enter');
      letThrough();
      await page.getByRole('heading', { name: /#7$/ }).waitFor();
    });
  });

  test('finds a pull request by its number from the home of the service', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open('');
      await page.keyboard.press('Control+k');
      await page.keyboard.type('#8');
      await page.getByText('Nothing is called “#8”.').waitFor();
      await page.keyboard.press('Backspace');
      await page.keyboard.type('7');
      const { owner, name } = insights.fixture.repository;
      await page.getByRole('option', { name: `${owner}/${name} #7` }).waitFor();
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { name: /#7$/ }).waitFor();
    });
  });

  test('finds repositories from anywhere, also on a phone', async () => {
    await pages.on({ viewport: PHONE }, async ({ page, open }) => {
      await open('');
      const { owner, name } = insights.fixture.repository;
      await page.getByRole('button', { name: 'Jump to …' }).click();
      await page.keyboard.type(name);
      await page.getByRole('option', { name: `${owner}/${name}` }).click();
      await page.waitForURL((url) => url.pathname.endsWith(`/${owner}/${name}`));
    });
  });
});
