/**
 * How fast the pages of the web application are in a browser, on a service with everything embedded:
 *
 *     bun tests/bench/pages.ts [--executions 10000000] [--tests 20000] [--rounds 10] [--folder <path>] [--json]
 *
 * With `--folder`, the data stay there and are used again. docs/performance.md says what the figures mean.
 */
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { closeAll } from '../support/at-end.ts';
import { hasBrowser, visit } from '../support/browser.ts';
import { PAGES, type Places, placesOf } from '../support/pages.ts';
import { ownerOf } from './data.ts';
import { EVENTS, fillLog } from './events.ts';
import { fill } from './ingest.ts';
import { INTERACTIONS, type Interaction } from './interactions.ts';
import { quantile } from './quantile.ts';
import { type Targets, targetsOf } from './reads.ts';
import { type Figure, figure, linesOf, tableOf } from './report.ts';
import { BenchService } from './service.ts';

/** Milliseconds. */
const FIRST_VIEW_MAX = 1_000;
const FEEDBACK_MAX = 100;

const { values } = parseArgs({
  options: {
    executions: { type: 'string', default: '10000000' },
    tests: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '10' },
    folder: { type: 'string' },
    json: { type: 'boolean', default: false },
  },
});
const source = {
  seed: 1,
  now: Date.now(),
  days: 89,
  executions: Number(values.executions),
  tests: Number(values.tests),
  repositories: 5,
  chunk: 1_000,
  isEachTest: false,
};
const rounds = Number(values.rounds);
const say = (what: string): void => void process.stderr.write(`${what}, load ${loadavg()[0]?.toFixed(1)}\n`);
if (!hasBrowser) process.exit(1);

const folder = values.folder ?? mkdtempSync(join(tmpdir(), 'ci-insights-bench-'));
const isFilled = values.folder !== undefined && existsSync(folder);
const service = new BenchService(folder);
try {
  await service.start();
  if (!isFilled) {
    say(`fills with ${source.executions} executions`);
    await fill(service, source, Math.ceil(source.executions / source.chunk));
    await fillLog(service, source.now, EVENTS);
  }
  const targets = await targetsOf(service, source.seed, source.now);
  say('opens pages');
  const figures = [...(await firstViews(targets)), ...(await interactions(targets))];
  if (!values.json) process.stdout.write(`${tableOf(figures)}\n`);
  process.stdout.write(`${linesOf(figures)}\n`);
  say('done');
} finally {
  await closeAll();
  if (values.folder === undefined) rmSync(folder, { recursive: true, force: true });
}

/** Another test and commit each time. */
async function placesIn({ failing, commits }: Targets, round: number): Promise<Places> {
  const test = failing[round % failing.length];
  if (!test) throw new Error('no test has failed');
  // Runs of the last days only are few where there are few executions.
  const since = new Date(source.now - source.days * 86_400_000).toISOString();
  const get = async (path: string) =>
    (await service.request(`/v1${path}${path.includes('/runs?') ? `&start=${since}` : ''}`)).json();
  const places = await placesOf(ownerOf, test.repository, get);
  const commit = commits.filter(({ repository }) => repository === test.repository)[round]?.commit ?? places.commit;
  return { ...places, testId: test.testId, commit };
}

function openPage() {
  return visit(service.origin, { key: service.authorization.slice('Bearer '.length), isNow: true });
}

/** From the start of the navigation until the page shows its data, with nothing in the browser's cache. */
async function firstViews(targets: Targets): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const row of PAGES.filter(({ hasReads }) => hasReads)) {
    const took: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const { page, context } = await openPage();
      const places = await placesIn(targets, round);
      await page.goto(`${service.origin}/app${row.address(places)}`, { waitUntil: 'commit' });
      await row.content(page).waitFor();
      took.push(await page.evaluate<number>('performance.now()'));
      await context.close();
    }
    figures.push(figure(`${row.name}.first_view`, quantile(took, 0.5), 'ms', { atMost: FIRST_VIEW_MAX }));
    figures.push(figure(`${row.name}.first_view_slowest`, Math.max(...took), 'ms', { atMost: FIRST_VIEW_MAX }));
  }
  return figures;
}

/** From a key or a click until something on the page changes, and until it shows what was asked for. */
async function interactions(targets: Targets): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, interaction] of Object.entries(INTERACTIONS)) {
    const took: { feedback: number; done: number }[] = [];
    for (let round = 0; round < rounds; round++) {
      const { page, context } = await openPage();
      took.push(await timed(page, interaction, await placesIn(targets, round)));
      await context.close();
    }
    const feedback = took.map((one) => one.feedback);
    figures.push(figure(`${name}.feedback`, quantile(feedback, 0.5), 'ms', { atMost: FEEDBACK_MAX }));
    figures.push(figure(`${name}.feedback_slowest`, Math.max(...feedback), 'ms', { atMost: FEEDBACK_MAX }));
    const done = took.map((one) => one.done);
    figures.push(figure(`${name}.done`, quantile(done, 0.5), 'ms'));
  }
  return figures;
}

/** Notes when the first input came, and when the page was drawn after the first change that followed. */
const WATCH = `
  window.watched = {};
  for (const type of ['pointerup', 'keydown', 'change'])
    document.addEventListener(type, ({ timeStamp }) => { watched.input ??= timeStamp; }, { capture: true });
  new MutationObserver(() => {
    if (watched.input === undefined || watched.changed) return;
    watched.changed = true;
    requestAnimationFrame(() => { watched.feedback = performance.now() - watched.input; });
  }).observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
`;

async function timed(
  page: Page,
  { page: name, act, done }: Interaction,
  places: Places,
): Promise<{ feedback: number; done: number }> {
  const row = PAGES.find((one) => one.name === name);
  if (!row) throw new Error(`there is no page ${name}`);
  await page.goto(`${service.origin}/app${row.address(places)}`);
  await row.content(page).waitFor();
  await page.waitForLoadState('networkidle');
  await page.evaluate(WATCH);
  await act(page);
  await done(page).waitFor();
  const took = await page.evaluate<number>('performance.now() - watched.input');
  return { done: took, feedback: await page.evaluate<number>('watched.feedback') };
}
