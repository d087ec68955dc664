/**
 * `bun scripts/first-run-pictures.ts`: goes through the first minutes with a new service, as a person does, from an empty folder
 * to the page of an imported repository with 300 workflow runs. Takes the pictures of the README, and says how long it took.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { chromium } from 'playwright-core';
import { DAY_MS } from '../src/domain/time.ts';
import { FakeGithub } from '../tests/support/github-actions.ts';
import { pastOf } from '../tests/support/past.ts';

const ROOT = resolve(import.meta.dir, '..');
const DAYS = 75;
const RUNS_PER_DAY = 4;
const WAIT_MS = 300_000;

const today = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const github = new FakeGithub('acme/shop', pastOf({ seed: 3, until: today, days: DAYS, runsPerDay: RUNS_PER_DAY }));
const dataDir = mkdtempSync(join(tmpdir(), 'ci-insights-first-'));
let written = '';
const startedAt = performance.now();
const after = (): string => `${((performance.now() - startedAt) / 1_000).toFixed(1)} s`;
const service = Bun.spawn(['npm', 'start'], {
  cwd: ROOT,
  env: { ...process.env, DATA_DIR: dataDir, PORT: '0', GITHUB_API_URL: github.url },
  terminal: {
    cols: 160,
    data: (_, data) => {
      written += Buffer.from(data).toString();
    },
  },
});
const browser = await chromium.launch({
  executablePath: Bun.which('chromium') ?? Bun.which('google-chrome') ?? '',
  args: ['--no-sandbox'],
});
try {
  while (!/#cip_\S+\s/.test(written)) await Bun.sleep(20);
  const link = /http\S+#cip_\S+/.exec(written)?.[0] ?? '';
  console.log(`the link after ${after()}`);
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, colorScheme: 'light' });
  const page = await context.newPage();
  page.setDefaultTimeout(WAIT_MS);
  const picture = (name: string) =>
    page.screenshot({ path: join(ROOT, 'docs/screenshots', `${name}.png`), animations: 'disabled' });
  await page.goto(link);
  await page.getByLabel('Repository').fill('acme/shop');
  await picture('first-repository');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByLabel('Token of the host').fill('gh-token');
  await page.getByRole('button', { name: 'Import', exact: true }).click();
  console.log(`the import begins after ${after()}`);
  await page.getByRole('progressbar').waitFor();
  await page.getByRole('region', { name: 'What broke the default branch' }).waitFor();
  console.log(`the page of the repository after ${after()}`);
  await page.goto(`${link.slice(0, link.indexOf('/sign-in'))}/acme/shop/setup`);
  await page.getByText(/about .* left/).waitFor();
  await picture('first-import');
  await page.getByText('finished').waitFor();
  console.log(`the import is finished after ${after()}`);
  await page.goto(`${link.slice(0, link.indexOf('/sign-in'))}/acme/shop`);
  await page.getByRole('region', { name: 'What broke the default branch' }).waitFor();
  await page.waitForLoadState('networkidle');
  await picture('first-page');
} finally {
  await browser.close();
  service.kill('SIGTERM');
  await service.exited;
  await github.stop();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exit();
