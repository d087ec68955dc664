/** Times of twelve hours are the widest: none lies over its neighbour, and none is cut, wherever lists show them. */
import { describe, expect, test } from 'bun:test';
import { hasBrowser } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { TEST_NOW } from '../support/clock.ts';
import { beside, type InsightsFixture, setUpInsights } from '../support/insights.ts';
import type { TestExecution } from '../support/jobs.ts';

const US = { locale: 'en-US', timezoneId: 'America/New_York' } as const;
const NAME = 'reads at 10:30 PM';
/** In New York, each is at half past ten in the evening of a day with two digits. */
const evening = (daysAgo: number): number => Date.parse('2026-11-21T03:30:00Z') - daysAgo * 86_400_000;

async function fill(fixture: InsightsFixture): Promise<void> {
  const run = (daysAgo: number, result: Partial<TestExecution>, pull?: number, attempt = 1) => {
    const when = evening(daysAgo) + attempt * 60_000;
    const others = beside((TEST_NOW - when) / 3_600_000);
    return fixture.run([{ name: NAME, at: when, ...result }, ...others], {
      ...{
        commit: `${pull ?? 'main'}-${daysAgo}`,
        job_url: 'https://ci.example/1',
        run_id: `${daysAgo}`,
        run_attempt: attempt,
      },
      ...(pull !== undefined && { branch: `fix-${pull}`, base_ref: 'main', pull_request: pull }),
    });
  };
  const failed: Partial<TestExecution> = {
    status: 'failed',
    failures: [{ type: 'Error', message: 'late', stacktrace: 'at a.ts:1' }],
  };
  await fixture.ingest(
    ...[9, 8, 7, 6, 5].flatMap((days) => [run(days, failed), run(days, {}, undefined, 2)]),
    ...[4, 3, 2].flatMap((days) => [run(days, failed, 12_340 + days), run(days, {}, 12_340 + days, 2)]),
    run(1, {}),
  );
}

const insights = setUpInsights(fill);
const pages = setUpPages(insights);

describe.skipIf(!hasBrowser)('in en-US', () => {
  test.each([1280])('%i pixels wide: no time lies over a text, and none is cut', async (width) => {
    await pages.on({ ...US, viewport: { width, height: 900 } }, async ({ page, open }) => {
      const wrong = async (): Promise<string[]> => page.evaluate<string[]>(WRONG_TIMES);
      await open(`${pages.base}/tests?q=reads`);
      expect(await wrong()).toEqual([]);
      await page.getByRole('link', { name: NAME }).first().press('Enter');
      await page.getByRole('button', { name: /^Why is it/ }).press('Enter');
      const reason = page.getByRole('region', { name: 'Reason' });
      await reason.getByText('→').first().waitFor();
      await reason.getByText('of pull requests').waitFor();
      expect(await reason.locator('time').first().textContent()).toContain('10:3');
      await page.getByRole('region', { name: 'Failures' }).getByRole('button').first().press('Enter');
      await page.getByText('at a.ts:1').waitFor();
      expect(await wrong()).toEqual([]);
      for (const path of ['/runs', '/events', '/quarantines', '/pulls/12342', '/commits/main-5', '/uploads']) {
        await open(`${pages.base}${path}`);
        expect([path, await wrong()]).toEqual([path, []]);
      }
      await open('/');
      expect(await wrong()).toEqual([]);
    });
  });
});

/** Times whose text lies over a text beside it, or beyond the part of the page that shows it. */
const WRONG_TIMES = `(() => {
  const boxOf = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  const texts = [];
  const walker = document.createTreeWalker(document.querySelector('main'), NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode())
    if (node.data.trim() !== '' && node.parentElement.checkVisibility() && !node.parentElement.closest('.sr-only')) texts.push([node, boxOf(node)]);
  return [...document.querySelectorAll('main time')].filter((time) => time.checkVisibility() && !time.closest('.sr-only')).flatMap((time) => {
    const box = boxOf(time);
    if (box.width === 0) return [];
    const over = texts.filter(([node, other]) => !time.contains(node) && box.left < other.right - 1 && other.left < box.right - 1 && box.top < other.bottom - 2 && other.top < box.bottom - 2);
    const cut = [];
    for (let one = time.parentElement; one; one = one.parentElement) {
      if (getComputedStyle(one).overflowX === 'visible') continue;
      const { left, right } = one.getBoundingClientRect();
      if (box.left < left - 1 || box.right > right + 1) cut.push(one.className);
      break;
    }
    if (box.right > innerWidth + 1) cut.push('page');
    return [...over.map(([node]) => time.textContent + ' over ' + node.data), ...cut.map((by) => time.textContent + ' is cut by ' + by)];
  });
})()`;
