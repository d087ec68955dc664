/** The most frequent actions of people on the pages of the web application, and how one sees that each is done. */
import type { Locator, Page } from 'playwright-core';

export interface Interaction {
  /** Name in `tests/support/pages.ts`. */
  page: string;
  /** Whether it is about the log, so that it needs the repository with many events. */
  isAboutLog?: boolean;
  /** Comes before it and is not timed. */
  prepare?(page: Page): Promise<unknown>;
  act(page: Page): Promise<unknown>;
  done(page: Page): Locator;
}

/** The pace of people who know what they want. */
const KEY_MS = 60;

const main = (page: Page): Locator => page.getByRole('main');
const firstEntry = (page: Page): Locator => main(page).getByRole('listitem').first();
const firstTest = (page: Page): Locator => page.locator('[data-index="0"] a');
/** Rows of the last answer are paler until the next one is there. */
const freshTests = (page: Page): Locator => page.locator('[role="rowgroup"]:not(.opacity-60) [data-index="0"]');
/** Nothing is being loaded: the line below the header is gone. */
const idle = (page: Page): Locator => page.locator('body:has(header .invisible)');
const tab = (name: string) => (page: Page) => page.getByRole('link', { name, exact: true }).click();

export const INTERACTIONS: Record<string, Interaction> = {
  open_repository: {
    page: 'repositories',
    act: (page) => main(page).getByRole('link').first().click(),
    done: firstTest,
  },
  search: {
    page: 'tests',
    act: (page) => page.getByLabel('Find tests').pressSequentially('thing 77', { delay: KEY_MS }),
    done: (page) => freshTests(page).filter({ hasText: 'thing 77' }),
  },
  filter_by_health: {
    page: 'tests',
    // The worst come first, so the first row is of another health.
    act: (page) => page.getByLabel('Health').selectOption('healthy'),
    done: (page) => freshTests(page).filter({ hasText: 'healthy' }),
  },
  open_test: {
    page: 'tests',
    act: (page) => firstTest(page).click(),
    done: (page) => page.getByRole('region', { name: 'Commit by commit' }),
  },
  open_runs: { page: 'tests', act: tab('Runs'), done: firstEntry },
  open_quarantines: { page: 'tests', act: tab('Quarantine'), done: firstEntry },
  open_log: { page: 'tests', isAboutLog: true, act: tab('Event log'), done: firstEntry },
  choose_window: {
    page: 'test',
    act: (page) => page.getByRole('button', { name: '7 days' }).click(),
    done: (page) => idle(page).getByRole('button', { name: '7 days', pressed: true }),
  },
  open_reason: {
    page: 'test',
    act: (page) => page.getByRole('button', { name: /^Why is it/ }).click(),
    done: (page) => page.getByRole('heading', { level: 3 }),
  },
  open_failures: {
    page: 'test',
    act: (page) => page.getByRole('region', { name: 'Failures' }).getByRole('button').first().click(),
    done: (page) => page.locator('pre'),
  },
  quarantine: {
    page: 'test',
    prepare: async (page) => {
      await page.getByRole('button', { name: 'Quarantine …' }).click();
      await page.getByRole('dialog').getByLabel('Why').fill('fails on Mondays');
    },
    act: (page) => page.getByRole('dialog').getByRole('button', { name: 'Quarantine', exact: true }).click(),
    done: (page) => page.getByRole('region', { name: 'Quarantine' }).getByText('fails on Mondays'),
  },
  open_commit: {
    page: 'runs',
    act: (page) => firstEntry(page).getByRole('link').first().click(),
    done: (page) => page.getByRole('heading', { level: 1, name: /^Commit/ }),
  },
  open_run: {
    page: 'runs',
    act: (page) => firstEntry(page).getByRole('link').last().click(),
    done: (page) => page.getByRole('region', { name: 'CI jobs' }),
  },
  choose_events: {
    page: 'events',
    isAboutLog: true,
    act: (page) => page.getByLabel('Type of event').selectOption('action.merge'),
    done: (page) => firstEntry(page).filter({ hasText: 'action.merge' }),
  },
  choose_days_of_log: {
    page: 'events',
    isAboutLog: true,
    act: (page) => page.getByLabel('Window').selectOption('90'),
    // Six digits: more than a week has.
    done: (page) => idle(page).getByText(/^\d{3},\d{3} events$/),
  },
  open_event: {
    page: 'events',
    isAboutLog: true,
    act: (page) => page.locator('summary').first().click(),
    done: (page) => page.locator('details[open] dl'),
  },
  open_uploads: {
    page: 'operations',
    act: tab('Uploads'),
    done: firstEntry,
  },
};
