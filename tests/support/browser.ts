/** A browser for the tests of a run: one Chromium, opened by the first that asks. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { z } from 'zod';
import { atEnd } from './at-end.ts';
import { TEST_NOW } from './clock.ts';

const executablePath = Bun.which('chromium') ?? Bun.which('chromium-browser') ?? Bun.which('google-chrome');
export const hasBrowser = executablePath !== null;
if (!hasBrowser && process.env.CI === 'true') throw new Error('chromium is missing: in CI nothing is skipped');
if (!hasBrowser) console.error('skipped: tests in a browser, because there is no chromium here');

const AXE = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
/** More than any page needs on a busy machine. */
const WAIT_MS = 120_000;
/** People who read days, times and numbers in different ways. The first is meant where a test does not say. */
export const READERS = [
  { locale: 'en-GB', timezoneId: 'Europe/Prague' },
  { locale: 'en-US', timezoneId: 'America/New_York' },
] as const satisfies readonly BrowserContextOptions[];
/** Where `.ci/run` keeps what is worth a look; absent: no pictures are taken. */
const ARTIFACTS = process.env.ARTIFACTS_DIR;
export const WIDE = { width: 1280, height: 1000 };
export const PHONE = { width: 360, height: 740 };

let opened: Promise<Browser> | undefined;

function openBrowser(): Promise<Browser> {
  opened ??= chromium
    .launch({ ...(executablePath && { executablePath }), args: ['--no-sandbox', '--disable-dev-shm-usage'] })
    .then((browser) => {
      atEnd(() => browser.close());
      return browser;
    });
  return opened;
}

/** A page of a person who has signed in, with everything that went wrong in it. */
export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Errors of scripts, and what the policy refused. Answers that are refused are not errors. */
  errors: string[];
  /** Opens an address of the application, and returns when the page is there and nothing is on its way. */
  open(path: string): Promise<void>;
}

export interface VisitOptions extends BrowserContextOptions {
  /** The application key to sign in with; absent: no one signs in. */
  key?: string | undefined;
  /** Whether the time of the page is now; by default it stands at `TEST_NOW`, as that of the test stores. */
  isNow?: boolean;
}

const sessions = new Map<string, string>();

/** The cookie of a session of a key, the same one until it ends: few may sign in within a second, and clocks stand still. */
async function sessionOf(origin: string, key: string): Promise<string> {
  const place = `${origin} ${key}`;
  const known = sessions.get(place);
  if (known && (await fetch(`${origin}/v1/session`, { headers: { cookie: known } })).ok) return known;
  const response = await fetch(`${origin}/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' },
    body: JSON.stringify({ key }),
  });
  const cookie = response.headers.get('set-cookie')?.split(';')[0];
  if (cookie === undefined) throw new Error(`signing in was answered with ${response.status}`);
  sessions.set(place, cookie);
  return cookie;
}

/** Opens a page on a service. */
export async function visit(origin: string, { key, isNow = false, ...options }: VisitOptions = {}): Promise<Visit> {
  const browser = await openBrowser();
  const context = await browser.newContext({
    ...READERS[0],
    viewport: WIDE,
    ...options,
  });
  context.setDefaultTimeout(WAIT_MS);
  await context.addInitScript(COLLECT_SHIFTS);
  const page = await context.newPage();
  if (!isNow) await page.clock.setFixedTime(TEST_NOW);
  const errors: string[] = [];
  page.on('pageerror', ({ message }) => errors.push(message));
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
      errors.push(message.text());
  });
  if (key !== undefined) {
    const [name = '', value = ''] = (await sessionOf(origin, key)).split('=');
    await context.addCookies([{ name, value, url: origin, httpOnly: true, sameSite: 'Strict' }]);
  }
  const open = async (path: string): Promise<void> => {
    await page.goto(`${origin}/app${path}`);
    await page.waitForLoadState('networkidle');
    // A busy browser may have the scripts, and nothing on its way, before it runs them.
    await page.locator('h1').first().waitFor({ state: 'attached' });
    await page.getByLabel('Loading').first().waitFor({ state: 'detached' });
  };
  return { page, context, errors, open };
}

/**
 * In Chromium's own measure: the part of the view that moved, times how far. Moves that follow a key or a click do not
 * count.
 */
const COLLECT_SHIFTS = `
  window.layoutShifts = [];
  new PerformanceObserver((list) => {
    for (const { value, hadRecentInput, sources } of list.getEntries()) {
      if (hadRecentInput) continue;
      const moved = sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? node?.textContent ?? '');
      window.layoutShifts.push({ value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });
`;
const shiftsSchema = z.array(z.object({ value: z.number(), moved: z.array(z.string()) }));

/** Shifts since the page was opened, except by a key or a click. */
export const shiftsOn = async (page: Page): Promise<z.infer<typeof shiftsSchema>> =>
  shiftsSchema.parse(await page.evaluate('window.layoutShifts'));

export const isWithinWidth = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth <= innerWidth');

/** Keeps a picture of what is in view among the artifacts of a run. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  if (ARTIFACTS === undefined) return;
  await page.screenshot({ path: join(ARTIFACTS, 'screenshots', `${name}.png`), animations: 'disabled' });
}

const violationsSchema = z.array(z.object({ id: z.string(), help: z.string(), where: z.array(z.string()) }));

const ALL_RULES = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'];
/** Rules that look at colours: another colour scheme changes nothing for the others. */
export const COLOUR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Violations of WCAG 2.2 AA that axe-core finds on a page.
 *
 * @param rules tags or names of rules; absent: all
 */
export async function violationsOn(page: Page, rules = ALL_RULES): Promise<z.infer<typeof violationsSchema>> {
  // Not as a script of the page, whose policy refuses it.
  if (!(await page.evaluate<boolean>('"axe" in window'))) await page.evaluate(`(() => { ${AXE} })()`);
  const found = await page.evaluate(`(async () => {
    const { violations } = await axe.run(document, { runOnly: ${JSON.stringify(rules)} });
    return violations.map(({ id, help, nodes }) => ({ id, help, where: nodes.map(({ target }) => target.join(' ')) }));
  })()`);
  return violationsSchema.parse(found);
}
