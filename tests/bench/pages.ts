/**
 * How fast the pages of the web application are in a browser, on a service with everything embedded:
 *
 *     bun tests/bench/pages.ts [--folder <path>] [--executions 10000000] [--tests 20000] [--rounds 5] [--json]
 *
 * docs/performance.md says what the figures mean.
 */
import { parseArgs } from 'node:util';
import type { Page } from 'playwright-core';
import { closeAll } from '../support/at-end.ts';
import { hasBrowser, visit } from '../support/browser.ts';
import { PAGES, type PageRow, type Places } from '../support/pages.ts';
import { EVENTS, fillLog } from './events.ts';
import { closeOnSignals, inFolder, isInUse } from './folder.ts';
import { fill } from './ingest.ts';
import { INTERACTIONS } from './interactions.ts';
import { narrator } from './machine.ts';
import { type PlacesFor, placesIn } from './places.ts';
import { quantile } from './quantile.ts';
import { type Figure, figure, linesOf, tableByName } from './report.ts';
import { BenchService } from './service.ts';
import { interact, openFirst } from './visits.ts';

const FIRST_VIEW_MS_MAX = 1_000;
const FEEDBACK_MS_MAX = 100;
const SCRIPTS_KB_MAX = 200;
/** Half of what Chromium calls good. */
const SHIFT_MAX = 0.05;

const { values } = parseArgs({
  options: {
    executions: { type: 'string', default: '10000000' },
    tests: { type: 'string', default: '20000' },
    rounds: { type: 'string', default: '5' },
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
const median = (times: readonly number[]): number => quantile(times, 0.5);
const say = narrator();

/** Does it once for each round, each time in a browser that knows nothing and at other places. */
async function rounds<T>(
  service: BenchService,
  row: PageRow,
  nextPlaces: () => Places,
  act: (page: Page, address: string) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  for (let round = 0; round < Number(values.rounds); round++) {
    const key = service.authorization.slice('Bearer '.length);
    const { page, context } = await visit(service.origin, { key, isNow: true });
    results.push(await act(page, `${service.origin}/app${row.address(nextPlaces())}`));
    await context.close();
  }
  return results;
}

async function firstViews(service: BenchService, placesFor: PlacesFor): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const row of PAGES.filter(({ hasReads }) => hasReads)) {
    say(`opens ${row.name}`);
    const nextPlaces = () => placesFor(row.name === 'events');
    const views = await rounds(service, row, nextPlaces, (page, address) => openFirst(page, address, row, service.pid));
    const took = views.map(({ ms }) => ms);
    const kilobytes = Math.max(...views.map(({ scriptBytes }) => scriptBytes)) / 1_000;
    figures.push(
      figure(`${row.name}.first_view`, median(took), 'ms', { atMost: FIRST_VIEW_MS_MAX }),
      figure(`${row.name}.first_view_slowest`, Math.max(...took), 'ms', { atMost: FIRST_VIEW_MS_MAX }),
      figure(`${row.name}.browser`, median(views.map(({ browserMs }) => browserMs)), 'ms'),
      figure(`${row.name}.service`, median(views.map(({ serviceMs }) => serviceMs)), 'ms'),
      figure(`${row.name}.scripts`, kilobytes, 'KB', { atMost: SCRIPTS_KB_MAX }),
      figure(`${row.name}.layout_shift`, Math.max(...views.map(({ shift }) => shift)), '', { atMost: SHIFT_MAX }),
    );
  }
  return figures;
}

async function interactions(service: BenchService, placesFor: PlacesFor): Promise<Figure[]> {
  const figures: Figure[] = [];
  for (const [name, interaction] of Object.entries(INTERACTIONS)) {
    const row = PAGES.find((one) => one.name === interaction.page);
    if (!row) throw new Error(`there is no page ${interaction.page}`);
    say(`tries ${name}`);
    const nextPlaces = () => placesFor(interaction.isAboutLog ?? false);
    const answers = await rounds(service, row, nextPlaces, async (page, address) => {
      await openFirst(page, address, row, service.pid);
      return interact(page, interaction);
    });
    const feedback = answers.map(({ feedbackMs }) => feedbackMs);
    const done = answers.map(({ doneMs }) => doneMs);
    figures.push(
      figure(`${name}.feedback`, median(feedback), 'ms', { atMost: FEEDBACK_MS_MAX }),
      figure(`${name}.feedback_slowest`, Math.max(...feedback), 'ms', { atMost: FEEDBACK_MS_MAX }),
      figure(`${name}.done`, median(done), 'ms'),
      figure(`${name}.done_slowest`, Math.max(...done), 'ms'),
      figure(`${name}.layout_shift`, Math.max(...answers.map(({ shift }) => shift)), '', { atMost: SHIFT_MAX }),
    );
  }
  return figures;
}

const VIEW_COLUMNS = {
  first_view: 'first view: median',
  first_view_slowest: 'slowest',
  browser: 'browser',
  service: 'service',
  scripts: 'scripts',
  layout_shift: 'layout shift',
};
const INTERACTION_COLUMNS = {
  feedback: 'feedback: median',
  feedback_slowest: 'slowest',
  done: 'done: median',
  done_slowest: 'slowest',
  layout_shift: 'layout shift',
};

if (!hasBrowser) process.exit(1);
closeOnSignals();
const isFilled = values.folder !== undefined && isInUse(values.folder);
await inFolder(values.folder, async (folder) => {
  const service = new BenchService(folder);
  await service.start();
  if (!isFilled) {
    say(`fills with ${source.executions} executions`);
    await fill(service, source, Math.ceil(source.executions / source.chunk), say);
    await fillLog(service, source.now, EVENTS);
  }
  await service.untilEvaluated();
  const [stored] = await service.rows<{ executions: string }>(
    'select sum(executions) as executions from ci_insights.ingest_blocks',
  );
  const executions = figure('executions', Number(stored?.executions), '');
  say(`looks at pages of ${executions.value} executions`);
  const placesFor = await placesIn(service, source);
  const views = await firstViews(service, placesFor);
  const answers = await interactions(service, placesFor);
  if (!values.json) {
    process.stdout.write(`${tableByName(views, 'page', VIEW_COLUMNS)}\n\n`);
    process.stdout.write(`${tableByName(answers, 'interaction', INTERACTION_COLUMNS)}\n\n`);
  }
  process.stdout.write(`${linesOf([executions, ...views, ...answers])}\n`);
  say('done');
}).finally(closeAll);
