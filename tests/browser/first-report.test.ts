/** The page of a repository that has sent nothing from its default branch, in a real browser. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, violationsOn, WIDE } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(fixture.run([{ name: 'there', at: at(1) }]));
});
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('a repository without results of its default branch', () => {
  test('ticks off each step of setting up once it has happened, and then shows the tests', async () => {
    const another = insights.fixture.another();
    const { owner, name } = another.repository;
    await pages.on({}, async ({ page, open }) => {
      await open(`/${owner}/${name}`);
      const step = (title: string) =>
        page.getByRole('list', { name: 'Steps' }).getByRole('listitem').filter({ hasText: title });
      const ofPull = step('A pull request reports');
      await ofPull.filter({ hasText: 'not yet' }).waitFor();
      const pull = { branch: 'feat/cart', base_ref: 'main', pull_request: 7, commit: 'c0ffee1234567890' };
      await another.ingest(another.run([{ name: 'adds tax', at: at(1) }], pull));
      await ofPull.filter({ hasText: ': done' }).waitFor();
      expect(await ofPull.textContent()).toContain('pull request #7 at c0ffee1234');
      expect(await step('The default branch reports').textContent()).toContain('not yet');
      expect(await step('The gate runs').textContent()).toContain('not yet');
      await keepPicture(page, 'first-report-arrived');
      await another.ingest(another.run([{ name: 'the first test', at: at(1) }]));
      await page.getByRole('region', { name: 'What broke the default branch' }).waitFor();
      await open(`/${owner}/${name}/setup`);
      await step('The default branch reports').filter({ hasText: ': done' }).waitFor();
    });
  });

  test.each([
    ['en-US', WIDE],
    ['de-DE', WIDE],
    ['en-US', PHONE],
  ] as const)('offers a recipe for each CI, %s, %p', async (locale, viewport) => {
    const { owner, name } = insights.fixture.another().repository;
    await pages.on({ locale, viewport, reducedMotion: 'reduce' }, async ({ page, open }) => {
      await open(`/${owner}/${name}`);
      const choices = page.getByRole('group', { name: 'Choose your CI' }).getByRole('button');
      for (const choice of await choices.all()) {
        await choice.click();
        expect(await choice.getAttribute('aria-pressed')).toBe('true');
        const code = await page.locator('pre').last().textContent();
        expect(code).toContain(`CI_INSIGHTS_URL`);
        expect(code).not.toContain('--branch');
        expect(await isWithinWidth(page)).toBe(true);
      }
      await choices.first().click();
      expect(await violationsOn(page)).toEqual([]);
      await keepPicture(page, `first-report-${locale}-${viewport.width}`);
    });
  });
});
