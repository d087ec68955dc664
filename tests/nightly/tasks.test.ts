/**
 * What people come for, each task done on the demo as a person would, from the address of the service. Clicks are counted (to
 * choose from a list takes two) and printed with seconds; typing is free.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type { Locator, Page } from 'playwright-core';
import { z } from 'zod';
import { hasBrowser, READERS } from '../support/browser.ts';
import { onPage } from '../support/browser-setup.ts';
import { type Demo, openDemo } from '../support/demo.ts';

const SLOW_MS = 2_000;
/** The tasks that people have every day. */
const CLICKS_MAX = 3;

interface Person {
  page: Page;
  /** Goes to an address below that of the application. */
  goTo(address: string): Promise<void>;
  click(what: Locator): Promise<void>;
  choose(list: Locator, value: string): Promise<void>;
  type(text: string): Promise<void>;
  press(key: string): Promise<void>;
  sees(what: Locator): Promise<void>;
}

interface Task {
  letter: string;
  what: string;
  /** Undefined: it is not one of every day. */
  clicksMax?: number;
  run(person: Person): Promise<void>;
}

const pullsSchema = z.object({ pulls: z.array(z.object({ number: z.int(), failed: z.int(), summary: z.string() })) });
const SHOP = '/acme/shop';
const region = (page: Page, name: string): Locator => page.getByRole('region', { name });
const toShop = ({ page, click }: Person): Promise<void> =>
  click(region(page, 'What changed').getByRole('link', { name: 'acme/shop' }));
const toTab = ({ page, click }: Person, name: string): Promise<void> =>
  click(page.getByRole('navigation', { name: 'Pages of this repository' }).getByRole('link', { name, exact: true }));

let demo: Demo;
/** Of a test that is broken, below the address of the application. */
let testAddress = '';
beforeAll(async () => {
  if (hasBrowser) demo = await openDemo();
});
afterAll(() => demo?.stop());

const TASKS: readonly Task[] = [
  {
    letter: 'a',
    what: 'my pull request is red: is it my fault?',
    clicksMax: CLICKS_MAX,
    run: async (person) => {
      const { page } = person;
      const answer = await page.context().request.get(`${demo.origin}/v1/ci/acme/repositories/shop/pulls?state=all`);
      const { pulls } = pullsSchema.parse(await answer.json());
      const red = pulls.find(({ failed }) => failed > 0);
      await person.press('Control+k');
      await person.type(String(red?.number));
      await page.getByRole('option', { name: `acme/shop #${red?.number}` }).waitFor();
      await person.press('Enter');
      await person.sees(page.getByText(red?.summary ?? '').first());
    },
  },
  {
    letter: 'b',
    what: 'the test that costs most this week, and its owner',
    clicksMax: CLICKS_MAX,
    run: async (person) => {
      await toShop(person);
      await toTab(person, 'Cost');
      await person.click(person.page.getByRole('button', { name: '7 days' }));
      await person.sees(
        person.page
          .getByRole('row')
          .nth(1)
          .getByText(/@acme|no owner/),
      );
    },
  },
  {
    letter: 'c',
    what: 'since when and by which commit a test is broken',
    clicksMax: CLICKS_MAX,
    run: async (person) => {
      await toShop(person);
      const turned = region(person.page, 'Tests that changed').getByRole('listitem').filter({ hasText: '#34' }).first();
      await person.sees(turned.getByText(/since [0-9a-f]{10}/));
    },
  },
  {
    letter: 'd',
    what: 'quarantine a test for two weeks, with ticket and owner',
    clicksMax: CLICKS_MAX,
    run: async (person) => {
      const { page } = person;
      await toShop(person);
      await person.click(region(page, 'What broke the default branch').getByRole('link', { name: /#34$/ }).first());
      await person.click(region(page, 'Quarantine').getByRole('button', { name: 'Quarantine …' }));
      const form = page.getByRole('dialog');
      // Their hands stay on the keyboard.
      await form.getByLabel('Why').fill('The contract of the shop has changed.');
      await form.getByLabel('Who repairs it').fill('ana');
      await form.getByLabel('Ticket').fill('https://tickets.acme.example/SHOP-1900');
      await person.press('Enter');
      await form.waitFor({ state: 'detached' });
      await person.sees(region(page, 'Quarantine').getByText('The contract of the shop has changed.'));
    },
  },
  {
    letter: 'd+',
    what: 'find that in the log, and release it',
    run: async (person) => {
      const { page } = person;
      await toShop(person);
      await toTab(person, 'Event log');
      await person.sees(page.getByText('The contract of the shop has changed.').first());
      await toTab(person, 'Today');
      await person.click(region(page, 'What broke the default branch').getByRole('link', { name: /#34$/ }).first());
      await person.click(region(page, 'Quarantine').getByRole('button', { name: 'Release' }));
      await person.sees(region(page, 'Quarantine').getByText('Its failures count everywhere.'));
    },
  },
  {
    letter: 'e',
    what: 'timeouts that mention redis',
    clicksMax: CLICKS_MAX,
    run: async (person) => {
      await toShop(person);
      await toTab(person, 'Causes');
      await person.page.getByLabel('Message', { exact: true }).fill('redis');
      await person.page.waitForURL(/q=redis/);
      await person.sees(
        person.page
          .getByRole('main')
          .getByRole('link', { name: /redis:/ })
          .first(),
      );
    },
  },
  {
    letter: 'f',
    what: 'this week against the last',
    run: async (person) => {
      await toShop(person);
      await person.sees(
        region(person.page, 'The last 90 days')
          .getByText(/this week, .+ before/)
          .first(),
      );
    },
  },
  {
    letter: 'g',
    what: 'what broke main last night, and who is on it',
    run: async (person) => {
      await toShop(person);
      const broke = region(person.page, 'What broke the default branch');
      await person.sees(broke.getByText(/are red/));
      await person.sees(broke.getByText(/(owned|repaired) by/).first());
    },
  },
  {
    letter: 'h',
    what: 'share a filtered view',
    run: async (person) => {
      await toShop(person);
      await toTab(person, 'Tests');
      await person.choose(person.page.getByLabel('Health', { exact: true }), 'flaky');
      await person.page.waitForURL(/health=flaky/);
      const other = await person.page.context().newPage();
      await other.goto(person.page.url());
      await other.locator('[data-index="0"] a').waitFor();
      expect(await other.getByLabel('Health', { exact: true }).inputValue()).toBe('flaky');
      await other.close();
    },
  },
  {
    letter: 'i',
    what: 'a new repository, from nothing',
    run: async (person) => {
      await person.goTo('/acme/brand-new');
      await person.sees(person.page.getByText('Waiting for the first report'));
      await toTab(person, 'Set up');
      await person.sees(person.page.getByRole('list', { name: 'Steps' }));
    },
  },
  {
    letter: 'j',
    what: 'a report was refused: which, and why',
    run: async (person) => {
      const row = region(person.page, 'What changed').getByRole('row').filter({ hasText: 'acme/shop' });
      await person.click(row.getByRole('link', { name: /refused/ }));
      await person.sees(person.page.getByText(/is not JUnit XML/).first());
    },
  },
  {
    letter: 'k',
    what: 'a key for a colleague that only reads',
    run: async (person) => {
      await person.click(person.page.getByRole('link', { name: 'Operations' }));
      await person.click(person.page.getByRole('link', { name: 'Keys and sessions' }));
      await person.page.getByLabel('Name').fill('for fern');
      await person.press('Enter');
      await person.sees(person.page.getByRole('status').filter({ hasText: /ci/ }).first());
    },
  },
  {
    letter: 'l',
    what: 'the slowest tests, and those that grew',
    run: async (person) => {
      await toShop(person);
      await toTab(person, 'Durations');
      await person.sees(person.page.getByRole('row').nth(1));
      await person.click(person.page.getByRole('columnheader', { name: 'Grown' }).getByRole('button'));
      await person.sees(person.page.getByRole('row').filter({ hasText: '#17' }).first());
    },
  },
  {
    letter: 'm',
    what: 'tests by folder, and by team',
    run: async (person) => {
      await toShop(person);
      await toTab(person, 'Tests');
      await person.page.getByLabel('Find tests').fill('src/cart');
      await person.sees(person.page.locator('[data-index="0"]').filter({ hasText: 'cart' }));
      await toTab(person, 'Owners');
      await person.click(person.page.getByRole('main').getByRole('link', { name: '@acme/checkout' }).first());
      await person.page.waitForURL(/ownedBy=/);
      await person.sees(person.page.locator('[data-index="0"] a'));
    },
  },
  {
    letter: 'n',
    what: 'tests that turned flaky, by the pull request that brought them',
    run: async (person) => {
      await toShop(person);
      const turned = region(person.page, 'Tests that changed');
      await person.sees(turned.getByRole('heading', { name: /Turned flaky/ }));
      await person.sees(
        turned
          .getByRole('listitem')
          .filter({ hasText: '#14' })
          .getByText(/#\d+\s*↗?\s*by /)
          .first(),
      );
    },
  },
];

const done: string[] = [];
afterAll(() => {
  if (done.length > 0) console.log(`\n${done.join('\n')}\n`);
});

describe.skipIf(!hasBrowser)('a person who has signed in', () => {
  test.each(TASKS as Task[])('does task $letter: $what', async ({ letter, what, clicksMax, run }) => {
    await onPage(
      demo.origin,
      { ...READERS[1], storageState: demo.storageState, isNow: true },
      async ({ page, open }) => {
        let clicks = 0;
        const person: Person = {
          page,
          goTo: open,
          click: (one) => {
            clicks += 1;
            return one.click();
          },
          choose: async (list, value) => {
            clicks += 2;
            await list.selectOption(value);
          },
          type: (text) => page.keyboard.type(text),
          press: (key) => page.keyboard.press(key),
          sees: (one) => one.waitFor(),
        };
        const begun = performance.now();
        await open('');
        await run(person);
        const seconds = ((performance.now() - begun) / 1_000).toFixed(1);
        done.push(`${letter.padEnd(3)}${what.padEnd(66)}${String(clicks).padStart(2)} clicks ${seconds.padStart(6)} s`);
        if (clicksMax !== undefined) expect(clicks).toBeLessThanOrEqual(clicksMax);
      },
    );
  });
});

describe.skipIf(!hasBrowser)('with a service that takes two seconds to answer', () => {
  /** Rounds: an answer that begins after another one of the page has come belongs to a later round. */
  test.each([
    ['the repositories', (): string => '', (page: Page): Locator => page.getByRole('row').nth(1)],
    ['today', (): string => SHOP, (page: Page): Locator => region(page, 'What broke the default branch')],
    ['the list of tests', (): string => `${SHOP}/tests`, (page: Page): Locator => page.locator('[data-index="0"] a')],
    [
      'a test',
      (): string => testAddress,
      (page: Page): Locator => region(page, 'Commit by commit').getByRole('listitem').first(),
    ],
  ] as const)('%s takes two rounds of requests at most', async (name, address, content) => {
    await onPage(demo.origin, { storageState: demo.storageState, isNow: true }, async ({ page, open }) => {
      await open(SHOP);
      testAddress ||= await region(page, 'What broke the default branch')
        .getByRole('link', { name: /#34$/ })
        .first()
        .evaluate((link) => String(link.getAttribute('href')).replace('/app', ''));
      const answered: number[] = [];
      let rounds = 0;
      await page.route('**/v1/**', async (route) => {
        const before = answered.length;
        // Requests that begin before any answer belong to the first round.
        const round = before === 0 ? 1 : 1 + Math.max(...answered);
        await Bun.sleep(SLOW_MS);
        answered.push(round);
        rounds = Math.max(rounds, round);
        await route.continue();
      });
      const begun = performance.now();
      await page.goto(`${demo.origin}/app${address()}`);
      await content(page).waitFor();
      const [seconds, taken] = [((performance.now() - begun) / 1_000).toFixed(1), rounds];
      done.push(
        `   ${`${name}, with answers after 2 s`.padEnd(66)}${String(taken).padStart(2)} rounds ${seconds.padStart(6)} s`,
      );
      expect(taken).toBeLessThanOrEqual(2);
    });
  });
});
