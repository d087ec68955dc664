/** What people do on the pages of the web application most, and how one sees that it is done. */
import type { Locator, Page } from 'playwright-core';

export interface Interaction {
  /** Of `tests/support/pages.ts`. */
  page: string;
  act(page: Page): Promise<unknown>;
  done(page: Page): Locator;
}

const firstTest = (page: Page): Locator => page.locator('[data-index="0"] a');
/** Rows of the last answer are paler until the next one is there. */
const freshTests = (page: Page): Locator => page.locator('[role="rowgroup"]:not(.opacity-60) [data-index="0"]');

export const INTERACTIONS: Record<string, Interaction> = {
  open_repository: {
    page: 'repositories',
    act: (page) => page.getByRole('main').getByRole('link').first().click(),
    done: firstTest,
  },
  search: {
    page: 'tests',
    act: (page) => page.getByLabel('Find tests').pressSequentially('feature 7'),
    done: (page) => freshTests(page).filter({ hasText: 'feature 7' }),
  },
  filter_by_health: {
    page: 'tests',
    act: (page) => page.getByLabel('Health').selectOption('flaky'),
    done: (page) => freshTests(page).filter({ hasText: 'flaky' }),
  },
  open_test: {
    page: 'tests',
    act: (page) => firstTest(page).click(),
    done: (page) => page.getByRole('region', { name: 'Commit by commit' }),
  },
  choose_window: {
    page: 'test',
    act: (page) => page.getByRole('button', { name: '7 days' }).click(),
    done: (page) => page.getByRole('button', { name: '7 days', pressed: true }),
  },
  open_reason: {
    page: 'test',
    act: (page) => page.getByRole('button', { name: /^Why is it/ }).click(),
    done: (page) => page.getByRole('heading', { level: 3 }).first(),
  },
  open_failures: {
    page: 'test',
    act: (page) => page.getByRole('region', { name: 'Failures' }).getByRole('button').first().click(),
    done: (page) => page.locator('pre').first(),
  },
  open_commit: {
    page: 'runs',
    act: (page) => page.getByRole('main').getByRole('listitem').getByRole('link').first().click(),
    done: (page) => page.getByRole('heading', { level: 1, name: /^Commit/ }),
  },
  choose_events: {
    page: 'events',
    act: (page) => page.getByLabel('Type of event').selectOption('action.merge'),
    done: (page) => page.getByRole('main').getByRole('listitem').first().filter({ hasText: 'action.merge' }),
  },
};
