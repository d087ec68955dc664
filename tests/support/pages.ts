/** Every page of the web application, for the tests and measurements that go over all of them. */
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';

/** A service's data that the addresses of pages name. */
export interface Places {
  owner: string;
  name: string;
  testId: string;
  commit: string;
  run: string;
  pull: number;
  cause: string;
}

const testsSchema = z.object({ tests: z.array(z.object({ test_id: z.string() })) });
export const causesSchema = z.object({ causes: z.array(z.object({ cause_id: z.string() })) });
export const runsSchema = z.object({
  runs: z.array(
    z.object({ id: z.string(), commit_sha: z.string(), pull_request: z.number().nullable(), failed: z.number() }),
  ),
});

/**
 * A test, a commit, a run, a cause and a pull request of a repository, those with the most failures.
 *
 * @param get the answer of the service at a path below `/v1`
 */
export async function placesOf(owner: string, name: string, get: (path: string) => Promise<unknown>): Promise<Places> {
  const base = `/ci/${owner}/repositories/${name}`;
  const { tests } = testsSchema.parse(await get(`${base}/search/tests?sort=failed_executions_count`));
  const { runs } = runsSchema.parse(await get(`${base}/runs?per_page=100`));
  const [run] = runs.toSorted((a, b) => b.failed - a.failed);
  const pull = runs.find((one) => one.pull_request !== null)?.pull_request;
  const { causes } = causesSchema.parse(await get(`${base}/causes?sort=tests`));
  if (!tests[0] || !run || !pull || !causes[0])
    throw new Error(`${owner}/${name} has no test, run, cause or pull request`);
  return {
    owner,
    name,
    testId: tests[0].test_id,
    commit: run.commit_sha,
    run: run.id,
    pull,
    cause: causes[0].cause_id,
  };
}

export interface PageRow {
  name: string;
  /** The route in `web/router.tsx`; undefined: an address without a page. */
  route?: string;
  address(places: Places): string;
  /** Present as soon as the page shows data. */
  content(page: Page): Locator;
  /** Present instead when nothing has been sent. */
  empty(page: Page): Locator;
  /** Whether it asks the service for data. */
  hasReads: boolean;
}

const text = (words: string) => (page: Page) => page.getByText(words).first();
const region = (name: string) => (page: Page) => page.getByRole('region', { name });
const entry = (page: Page): Locator => page.getByRole('main').getByRole('listitem').first();
const row = (page: Page): Locator => page.getByRole('row').nth(1);
const alert = (page: Page): Locator => page.getByRole('alert').first();
const repository = ({ owner, name }: Places): string => `/${owner}/${name}`;

/** A route without its row fails `tests/browser/pages.test.ts`. */
export const PAGES: readonly PageRow[] = [
  {
    name: 'sign-in',
    route: '/sign-in',
    address: () => '/sign-in',
    content: (page) => page.getByLabel('Application key'),
    empty: (page) => page.getByLabel('Application key'),
    hasReads: false,
  },
  {
    name: 'repositories',
    route: '/',
    address: () => '',
    content: (page) => page.getByRole('main').getByRole('link').first(),
    empty: text('Which repository do you want to begin with?'),
    hasReads: true,
  },
  {
    name: 'operations',
    route: '/operations',
    address: () => '/operations',
    content: region('Ingestion'),
    empty: region('Ingestion'),
    hasReads: true,
  },
  {
    name: 'operations-uploads',
    route: '/operations',
    address: () => '/operations?view=uploads',
    content: (page) => region('Uploads')(page).getByRole('listitem').first(),
    empty: text('Nothing was uploaded'),
    hasReads: true,
  },
  {
    name: 'operations-access',
    route: '/operations',
    address: () => '/operations?view=access',
    content: entry,
    empty: entry,
    hasReads: true,
  },
  {
    name: 'operations-audit',
    route: '/operations',
    address: () => '/operations?view=audit',
    content: entry,
    empty: entry,
    hasReads: true,
  },
  {
    name: 'today',
    route: '/$owner/$repository',
    address: repository,
    content: region('What broke the default branch'),
    empty: text('Waiting for the first report'),
    hasReads: true,
  },
  {
    name: 'tests',
    route: '/$owner/$repository/tests',
    address: (places) => `${repository(places)}/tests`,
    content: (page) => page.locator('[data-index="0"] a'),
    empty: text('Waiting for the first report'),
    hasReads: true,
  },
  {
    name: 'test',
    route: '/$owner/$repository/tests/$testId',
    address: (places) => `${repository(places)}/tests/${places.testId}?days=90`,
    content: (page) => page.getByRole('region', { name: 'Commit by commit' }).getByRole('listitem').first(),
    empty: alert,
    hasReads: true,
  },
  {
    name: 'test-history',
    route: '/$owner/$repository/tests/$testId/history',
    address: (places) => `${repository(places)}/tests/${places.testId}/history?days=90`,
    content: entry,
    empty: alert,
    hasReads: true,
  },
  {
    name: 'causes',
    route: '/$owner/$repository/causes',
    address: (places) => `${repository(places)}/causes`,
    content: row,
    empty: text('Nothing failed on the default branch'),
    hasReads: true,
  },
  {
    name: 'cause',
    route: '/$owner/$repository/causes/$cause',
    address: (places) => `${repository(places)}/causes/${places.cause}`,
    content: region('Newest failure'),
    empty: alert,
    hasReads: true,
  },
  {
    name: 'runs',
    route: '/$owner/$repository/runs',
    address: (places) => `${repository(places)}/runs`,
    content: row,
    empty: text('Nothing has run'),
    hasReads: true,
  },
  {
    name: 'run',
    route: '/$owner/$repository/runs/$run',
    address: (places) => `${repository(places)}/runs/${places.run}`,
    content: region('CI jobs'),
    empty: alert,
    hasReads: true,
  },
  {
    name: 'pulls',
    route: '/$owner/$repository/pulls',
    address: (places) => `${repository(places)}/pulls`,
    content: row,
    empty: text('Nothing has run for a pull request'),
    hasReads: true,
  },
  {
    name: 'pull-request',
    route: '/$owner/$repository/pulls/$number',
    address: (places) => `${repository(places)}/pulls/${places.pull}`,
    content: region('Newest commit'),
    empty: text('Nothing has arrived of pull request'),
    hasReads: true,
  },
  {
    name: 'commit',
    route: '/$owner/$repository/commits/$commit',
    address: (places) => `${repository(places)}/commits/${places.commit}`,
    content: (page) => page.getByRole('main').getByRole('region').first(),
    empty: text('Nothing has arrived for this commit'),
    hasReads: true,
  },
  {
    name: 'quarantines',
    route: '/$owner/$repository/quarantines',
    address: (places) => `${repository(places)}/quarantines`,
    content: row,
    empty: text('Nothing is quarantined'),
    hasReads: true,
  },
  {
    name: 'backtest',
    route: '/$owner/$repository/quarantines/backtest',
    address: (places) => `${repository(places)}/quarantines/backtest`,
    content: (page) => row(page).or(text('No backtest was asked for')(page)),
    empty: text('No backtest was asked for'),
    hasReads: true,
  },
  {
    name: 'cost',
    route: '/$owner/$repository/cost',
    address: (places) => `${repository(places)}/cost?reason=change`,
    content: (page) => page.getByRole('row').nth(1).or(text('No red run in this window')(page)),
    empty: text('No red run in this window'),
    hasReads: true,
  },
  {
    name: 'durations',
    route: '/$owner/$repository/durations',
    address: (places) => `${repository(places)}/durations`,
    content: (page) => page.getByRole('row').nth(1).or(text('No test has passed')(page)),
    empty: text('No test has passed'),
    hasReads: true,
  },
  {
    name: 'lanes',
    route: '/$owner/$repository/lanes',
    address: (places) => `${repository(places)}/lanes?by=leg`,
    content: row,
    empty: text('Nothing has run'),
    hasReads: true,
  },
  {
    name: 'owners',
    route: '/$owner/$repository/owners',
    address: (places) => `${repository(places)}/owners`,
    content: (page) => page.getByText(/have an owner/),
    empty: text('Waiting for the first report'),
    hasReads: true,
  },
  {
    name: 'events',
    route: '/$owner/$repository/events',
    address: (places) => `${repository(places)}/events`,
    content: entry,
    empty: text('Nothing happened in this window'),
    hasReads: true,
  },
  {
    name: 'uploads',
    route: '/$owner/$repository/uploads',
    address: (places) => `${repository(places)}/uploads`,
    content: (page) => region('Uploads')(page).getByRole('listitem').first(),
    empty: text('Nothing was uploaded'),
    hasReads: true,
  },
  {
    name: 'setup',
    route: '/$owner/$repository/setup',
    address: (places) => `${repository(places)}/setup`,
    content: (page) => page.getByRole('list', { name: 'Steps' }),
    empty: (page) => page.getByRole('list', { name: 'Steps' }),
    hasReads: true,
  },
  {
    name: 'settings',
    route: '/$owner/$repository/settings',
    address: (places) => `${repository(places)}/settings`,
    content: region('Owners of tests'),
    empty: region('Owners of tests'),
    hasReads: true,
  },
  {
    name: 'nothing-here',
    address: () => '/nope',
    content: text('There is nothing at this address'),
    empty: text('There is nothing at this address'),
    hasReads: false,
  },
];
