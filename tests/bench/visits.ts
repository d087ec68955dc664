/** The waits of a person at a browser: the first view of a page, and the answer to a key or a click. */
import type { Locator, Page } from 'playwright-core';
import { shiftsOn } from '../support/browser.ts';
import type { PageRow } from '../support/pages.ts';
import { processTree } from '../support/process-tree.ts';
import type { Interaction } from './interactions.ts';

/** Playwright's own waiting looks twice a second only, after a while. */
const LOOK_MS = 15;
const SHOWN_MS_MAX = 60_000;

/** Returns as soon as it can be seen. */
async function untilShown(place: Locator): Promise<void> {
  for (const until = performance.now() + SHOWN_MS_MAX; !(await place.first().isVisible()); await Bun.sleep(LOOK_MS))
    if (performance.now() > until) throw new Error(`not shown within a minute: ${place}`);
}

async function shiftOn(page: Page): Promise<number> {
  // Late content moves things, too.
  await page.waitForLoadState('networkidle');
  return (await shiftsOn(page)).reduce((sum, { value }) => sum + value, 0);
}

/** Compressed, as they came; one that was also preloaded is counted once. */
const SCRIPT_BYTES = `[...new Map(performance.getEntriesByType('resource')
  .filter(({ name }) => name.endsWith('.js')).map(({ name, encodedBodySize }) => [name, encodedBodySize])).values()]
  .reduce((sum, bytes) => sum + bytes, 0)`;

export interface FirstView {
  /** From the start of the navigation until the page shows its data. */
  ms: number;
  /** Processor time of the page's main thread until then. */
  browserMs: number;
  /** Time of all processes of the service, with what else they do. */
  serviceMs: number;
  scriptBytes: number;
  /** In Chromium's measure. */
  shift: number;
}

/**
 * @param page with nothing in its cache
 * @param pid the service
 */
export async function openFirst(page: Page, address: string, row: PageRow, pid: number): Promise<FirstView> {
  const devtools = await page.context().newCDPSession(page);
  await devtools.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = processorMsOf(pid);
  await page.goto(address, { waitUntil: 'commit' });
  await untilShown(row.content(page));
  const ms = await page.evaluate<number>('performance.now()');
  const serviceMs = processorMsOf(pid) - before;
  const { metrics } = await devtools.send('Performance.getMetrics');
  const busy = metrics.find(({ name }) => name === 'TaskDuration')?.value ?? Number.NaN;
  const shift = await shiftOn(page);
  return { ms, browserMs: busy * 1_000, serviceMs, shift, scriptBytes: await page.evaluate<number>(SCRIPT_BYTES) };
}

const processorMsOf = (pid: number): number =>
  processTree(pid).reduce((sum, { cpuSeconds }) => sum + cpuSeconds * 1_000, 0);

/** Notes the first input and the last, and when the page was drawn after the first change that followed the first. */
const WATCH = `
  window.layoutShifts = [];
  window.watched = {};
  for (const type of ['pointerup', 'keydown', 'change'])
    document.addEventListener(type, ({ timeStamp }) => {
      watched.first ??= timeStamp;
      watched.last = timeStamp;
    }, { capture: true });
  new MutationObserver(() => {
    if (watched.first === undefined || watched.isChanged) return;
    watched.isChanged = true;
    // The task after the frame begins when it has been drawn.
    requestAnimationFrame(() => setTimeout(() => { watched.feedback = performance.now() - watched.first; }));
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
`;

export interface Answered {
  /** From the first key or click until the page has changed. */
  feedbackMs: number;
  /** From the last one until the page shows what was asked for. */
  doneMs: number;
  shift: number;
}

/** @param page shows what the interaction begins on */
export async function interact(page: Page, { prepare, act, done }: Interaction): Promise<Answered> {
  await prepare?.(page);
  await page.waitForLoadState('networkidle');
  await page.evaluate(WATCH);
  await act(page);
  await untilShown(done(page));
  const doneMs = await page.evaluate<number>('performance.now() - watched.last');
  const shift = await shiftOn(page);
  return { doneMs, shift, feedbackMs: await page.evaluate<number>('watched.feedback') };
}
