/**
 * `bun scripts/screenshots.ts <link>`: pictures of the web application for the docs, from a running demo and the link
 * that it printed.
 */
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { type BrowserContextOptions, chromium, type Page } from 'playwright-core';

const FOLDER = resolve(import.meta.dir, '../docs/screenshots');
const WIDE: BrowserContextOptions = { viewport: { width: 1280, height: 800 } };
const PHONE: BrowserContextOptions = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true };
const REPOSITORY = '/acme/shop';

const link = process.argv[2];
if (link === undefined) {
  console.error('Pass the link that `npm run demo` printed.');
  process.exit(1);
}
const app = link.slice(0, link.indexOf('/sign-in'));
const executablePath = Bun.which('chromium') ?? Bun.which('google-chrome') ?? '';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
mkdirSync(FOLDER, { recursive: true });

const first = await browser.newContext(WIDE);
const entrance = await first.newPage();
await entrance.goto(link);
await entrance.waitForURL((url) => !url.pathname.endsWith('/sign-in'));
const storageState = await first.storageState();

/** Opens a test that has failed in more than one way. */
async function openTest(page: Page): Promise<void> {
  await page.goto(`${app}${REPOSITORY}/tests?health=flaky&sort=failed_executions_count`);
  await page.locator('[data-index="0"] a').click();
  await page.getByRole('region', { name: 'Commit by commit' }).getByRole('listitem').first().waitFor();
}

/** Opens the newest commit of a pull request that broke something itself. */
async function openCommit(page: Page): Promise<void> {
  await page.goto(`${app}${REPOSITORY}/runs`);
  const red = page.locator('tbody tr', { hasText: 'failed' }).filter({ hasText: '#' });
  const failed = red.locator(`a[href*="${REPOSITORY}/commits/"]`);
  await failed.first().waitFor();
  for (const address of await failed.evaluateAll((links) => links.map((link) => String(link)))) {
    await page.goto(address);
    await page.getByRole('heading', { level: 2 }).first().waitFor();
    if (await page.getByRole('region', { name: 'New' }).isVisible()) return;
  }
  throw new Error('no commit of a pull request broke something itself');
}

/** Opens the first row of a table that has a text. */
async function openFirst(page: Page, path: string, text: RegExp): Promise<void> {
  await page.goto(`${app}${REPOSITORY}${path}`);
  await page.locator('tbody tr').filter({ hasText: text }).getByRole('link').first().click();
  await page.getByRole('heading', { level: 2 }).first().waitFor();
}

const at = (path: string) => async (page: Page) => void (await page.goto(`${app}${REPOSITORY}${path}`));
const PICTURES: [string, BrowserContextOptions, (page: Page) => Promise<void>][] = [
  ['repositories', WIDE, async (page) => void (await page.goto(app))],
  ['today', { ...WIDE, viewport: { width: 1280, height: 1400 } }, at('')],
  ['pull-request', WIDE, (page) => openFirst(page, '/pulls?state=all', /your change/i)],
  ['commit', WIDE, openCommit],
  ['test', { ...WIDE, viewport: { width: 1280, height: 1400 } }, openTest],
  ['causes', WIDE, at('/causes?sort=tests')],
  ['cause', WIDE, (page) => openFirst(page, '/causes?q=redis', /redis/)],
  ['owners', WIDE, at('/owners')],
  ['lanes', WIDE, at('/lanes')],
  ['cost', WIDE, at('/cost?days=7')],
  ['quarantine', { ...WIDE, colorScheme: 'dark' }, at('/quarantines')],
  ['today-phone', { ...PHONE, colorScheme: 'dark' }, at('')],
];
for (const [name, options, open] of PICTURES) {
  const context = await browser.newContext({ ...options, storageState });
  const page = await context.newPage();
  await open(page);
  await page.waitForLoadState('networkidle');
  await page.getByRole('status', { name: 'Loading' }).first().waitFor({ state: 'hidden' });
  await page.screenshot({ path: join(FOLDER, `${name}.png`), animations: 'disabled' });
  await context.close();
}
await browser.close();
