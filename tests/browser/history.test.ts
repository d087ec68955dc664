/** The executions of a test: filtered, opened, compared; with links to the host. For readers of two locales, and at 320 px. */
import { describe, expect, test } from 'bun:test';
import { testIdOf } from '../../src/domain/identity.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, READERS, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, setUpInsights } from '../support/insights.ts';

const NAME = 'src/cart.test.ts > sums';
const failureOf = (message: string, frame: string) => [
  {
    type: 'AssertionError',
    message,
    stacktrace: `AssertionError: ${message}\n    at ${frame}\n    at src/cart.test.ts:12:5`,
  },
];

const insights = setUpInsights(async (fixture) => {
  const { owner, name } = fixture.repository;
  const main = { branch: 'main', job_url: `https://ghe.example.com/${owner}/${name}/actions/runs/1` };
  const one = (hours: number, more = {}) => [{ name: NAME, filepath: 'src/cart.test.ts', at: at(hours), ...more }];
  const failed = (hours: number, message: string, frame: string) =>
    one(hours, { status: 'failed', failures: failureOf(message, frame) });
  await fixture.ingest(
    fixture.run(one(40), { ...main, run_id: '1', commit: 'c1' }),
    fixture.run(failed(30, 'expected 3 to equal 4', 'sum (src/sum.ts:3:1)'), { ...main, run_id: '2', commit: 'c2' }),
    fixture.run(failed(20, 'expected 5 to equal 4', 'sum (src/sum.ts:9:1)'), {
      ...{ run_id: '3', commit: 'c3', branch: 'ana/rounding', base_ref: 'main', pull_request: 7 },
    }),
    fixture.run(one(10), { ...main, run_id: '4', commit: 'c4' }),
  );
});
const pages = setUpPages(insights);
const address = (): string => `${pages.base}/tests/${testIdOf(insights.fixture.id, NAME)}/history`;

describe.skipIf(!hasBrowser)('the executions of a test', () => {
  test.each(READERS)('lead to failures, two of which are compared line by line, for $locale', async (reader) => {
    await pages.on(reader, async ({ page, open }) => {
      const rows = page.getByRole('main').getByRole('listitem');
      await open(address());
      expect(await rows.count()).toBe(4);
      await page.getByLabel('Result').selectOption('Failed');
      await rows.nth(2).waitFor({ state: 'detached' });
      expect(await rows.count()).toBe(2);

      await rows
        .first()
        .getByRole('link', { name: /expected 5/ })
        .click();
      const one = page.getByRole('region', { name: 'Failure' });
      await one.getByText('sum (src/sum.ts:9:1)').waitFor();
      const file = one.getByRole('link', { name: 'src/cart.test.ts:12' });
      const { owner, name } = insights.fixture.repository;
      const host = `https://ghe.example.com/${owner}/${name}`;
      expect(await file.getAttribute('href')).toBe(`${host}/blob/c3/src/cart.test.ts#L12`);
      expect(await violationsOn(page)).toEqual([]);

      await page.getByRole('button', { name: 'Compare with the older one' }).click();
      const two = page.getByRole('region', { name: 'Two failures' });
      await two.getByText('3 lines differ.').waitFor();
      expect(await two.locator('ins').count()).toBe(6);
      const compare = two.getByRole('link', { name: /^Compare/ });
      expect(await compare.getAttribute('href')).toBe(`${host}/compare/c2...c3`);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `history-${reader.locale}`);
      await page.reload();
      await two.getByText('3 lines differ.').waitFor();
      await page.getByRole('button', { name: 'Show one only' }).click();
      await page.getByRole('button', { name: 'Older failure' }).click();
      await one.getByText('sum (src/sum.ts:3:1)').waitFor();
      expect(await page.getByRole('button', { name: 'Older failure' }).isDisabled()).toBe(true);
    });
  });

  test('are those of one pull request, whose number one types', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(address());
      const rows = page.getByRole('main').getByRole('listitem');
      const field = page.getByRole('searchbox', { name: 'Pull request' });
      await field.fill('#7');
      await page.waitForURL(/pull=7/);
      await rows.nth(1).waitFor({ state: 'detached' });
      expect(await rows.count()).toBe(1);
      await rows.getByRole('link', { name: '#7', exact: true }).waitFor();
      await field.fill('8');
      await page.getByText('No execution matches').waitFor();
      await field.fill('seven');
      await page.getByRole('alert').getByText('pull_request').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await field.fill('');
      await rows.nth(3).waitFor();
      expect(page.url()).not.toContain('pull');
    });
  });

  test('fit 320 px, with two failures below each other', async () => {
    await pages.on({ ...READERS[1], viewport: { ...PHONE, width: 320 } }, async ({ page, open }) => {
      await open(`${address()}?result=failed`);
      await page.getByRole('link', { name: /expected 5/ }).click();
      await page.getByRole('button', { name: 'Compare with the older one' }).click();
      await page.getByText('3 lines differ.').waitFor();
      expect(await isWithinWidth(page)).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, 'history-phone');
    });
  });
});
