/** The first minutes with a new service, in a real browser: the link, the first repository, and what its CI needs. */
import { describe, expect, test } from 'bun:test';
import { signInLink } from '../../src/access/sign-in-link.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, violationsOn, visit, WIDE } from '../support/browser.ts';
import { onPage, setUpPages } from '../support/browser-setup.ts';
import { at, setUpInsights } from '../support/insights.ts';

const insights = setUpInsights(async (fixture) => {
  await fixture.ingest(fixture.run([{ name: 'there', at: at(1) }]));
});
const pages = setUpPages(insights);

/** As an operator gets one, for an owner of whom the service knows no repository. */
const linkFor = async (owner: string): Promise<string> => {
  const { sessions } = pages.service.stores;
  const { pass } = await sessions.offer({ keyId: null, actor: 'ann', scope: 'admin', owner, repositories: null });
  return `${pages.origin}/app/sign-in#${pass}`;
};

describe.skipIf(!hasBrowser)('who starts the service', () => {
  test.each([
    ['en-US', WIDE],
    ['de-DE', PHONE],
  ] as const)(
    'signs in by the link, names a repository, and sees what its CI needs, %s, %p',
    async (locale, viewport) => {
      const name = 'shop';
      const owner = `first-${crypto.randomUUID().slice(0, 8)}`;
      const link = await linkFor(owner);
      await onPage(pages.origin, { locale, viewport, reducedMotion: 'reduce' }, async ({ page }) => {
        await page.goto(link);
        await page.getByRole('heading', { name: 'Which repository do you want to begin with?' }).waitFor();
        expect(page.url()).not.toContain('cip_');
        expect(await violationsOn(page)).toEqual([]);
        expect(await isWithinWidth(page)).toBe(true);
        await keepPicture(page, `first-run-${locale}-${viewport.width}`);
        const repository = page.getByLabel('Repository');
        await repository.fill('shop');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByText('Write it as owner/name').waitFor();
        await repository.fill(`https://gitlab.com/${owner}/${name}.git`);
        await page.getByRole('combobox', { name: 'CI' }).selectOption('GitLab CI');
        await page.getByRole('button', { name: 'Continue' }).click();
        await page.getByRole('list', { name: 'Steps' }).waitFor();
        expect(new URL(page.url()).pathname).toBe(`/app/${owner}/${name}`);
        const pressed = page.getByRole('button', { pressed: true });
        expect(await pressed.allTextContents()).toEqual(['GitLab CI', 'Identity token: no secret to keep']);
        expect(await page.locator('pre').last().textContent()).toContain('CI_INSIGHTS_ID_TOKEN');
        expect(await page.locator('pre').first().textContent()).toContain(`CI_TOKEN_ACCESS='gitlab:${owner}/${name} `);
        await page.getByRole('button', { name: 'Key', exact: true }).click();
        expect(await page.locator('pre').last().textContent()).not.toContain('ID_TOKEN');
        expect(await violationsOn(page)).toEqual([]);
        expect(await isWithinWidth(page)).toBe(true);
      });
    },
  );

  test('reads in a sentence what to do when the link was used', async () => {
    const link = await signInLink(pages.service.stores.sessions, pages.origin, { keyId: null, actor: 'ann' });
    const first = await visit(pages.origin);
    await first.page.goto(link);
    await first.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await first.context.close();
    await onPage(pages.origin, {}, async ({ page }) => {
      await page.goto(link);
      await page.getByRole('alert').filter({ hasText: 'has signed someone in already' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });
});
