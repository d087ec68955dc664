/** Pages of operators in a real browser: the state of the service, uploads, settings, and many repositories. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { hasBrowser, violationsOn } from '../support/browser.ts';
import { setUpPages } from '../support/browser-setup.ts';
import { at, setUpInsights } from '../support/insights.ts';
import { uniqueRepository } from '../support/stores.ts';

const REASON = 'the test name is <b>longer</b> than 10000 characters';
const OWNER = 'many-repositories';
const REPOSITORIES = 10_000;

const insights = setUpInsights(async (fixture) => {
  const rejections = [{ reason: REASON, count: 2, examples: ['<img src=x onerror="document.title=1">'] }];
  await fixture.ingest(fixture.run([{ name: 'a', at: at(30), status: 'failed', failures: [{ message: 'no' }] }]), {
    ...fixture.run([{ name: 'a', at: at(2) }]),
    rejections,
  });
});

let name: string;
// Hooks run in the order of the file: this one before that which stops the service of the pages.
afterAll(async () => {
  if (hasBrowser)
    await pages.service.stores.postgres.pool.query('delete from ci_insights.repositories where owner = $1', [OWNER]);
});
const pages = setUpPages(insights);
beforeAll(async () => {
  if (!hasBrowser) return;
  name = pages.base.slice(1);
  await pages.service.stores.postgres.pool.query(
    `insert into ci_insights.repositories (id, host, owner, name, default_branch, created_at)
     select gen_random_uuid(), 'github.com', $1, 'repository-' || lpad(n::text, 5, '0'), 'main', now()
     from generate_series(1, $2::int) as n`,
    [OWNER, REPOSITORIES],
  );
});

describe.skipIf(!hasBrowser)('operators', () => {
  test('see how fast results are stored, how far behind that is, and what waits, without a reload', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open('/operations');
      const ingestion = page.getByRole('region', { name: 'Ingestion' });
      await ingestion.getByText('Behind by').waitFor();
      await ingestion.getByRole('slider', { name: /executions stored, minute by minute/ }).waitFor();
      await page.getByRole('row', { name: /^test-runs 0 / }).waitFor();
      const later = page.waitForResponse(/\/v1\/service$/);
      expect((await later).status()).toBe(200);
    });
  });

  test('find the uploads in which rows were rejected, with the reasons, by a link', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open('/operations?view=uploads');
      await page.getByLabel('Only with problems').check();
      await page.waitForURL(/problems=true/);
      await page.getByLabel('Repository').fill(name);
      await page.waitForURL(/repository=/);
      await page.reload();
      const upload = page.locator('summary', { hasText: name });
      await upload.getByText('2 rejected').waitFor();
      await upload.click();
      await page.getByText(REASON).waitFor();
      await page.getByText('<img src=x onerror="document.title=1">').waitFor();
      expect(await page.locator('main img, main b').count()).toBe(0);
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('find who changed what, with the values before and after, by a link', async () => {
    await pages.service.makeKey({ owner: OWNER, name: '<b>made</b> for the page' });
    await pages.on({}, async ({ page, open }) => {
      await open('/operations?view=audit');
      await page.getByLabel('Action').selectOption('key.create');
      await page.waitForURL(/action=key.create/);
      await page.reload();
      const made = page.locator('summary', { hasText: '<b>made</b> for the page' }).first();
      await made.click();
      await page.getByText('scope: ci').first().waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('change settings of a repository, and are told what that needs', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`/${name}/settings`);
      const form = page.getByRole('form', { name: `Settings of ${name}` });
      await form.getByLabel('Automatic quarantine').selectOption('flaky');
      await form.getByLabel('Quarantine limit').fill('20');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('status').getByText('Saved.').waitFor();
      expect(await form.getByText('ci-insights rebuild').count()).toBe(0);
      await form.getByLabel('Default branch').fill('trunk');
      await page.keyboard.press('Enter');
      await form.getByText('ci-insights rebuild').waitFor();
      await page.reload();
      expect(await form.getByLabel('Quarantine limit').inputValue()).toBe('20');
      expect(await form.getByLabel('Default branch').inputValue()).toBe('trunk');
      await form.getByText('Set by an operator.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
    const { owner, name: repository } = insights.fixture.repository;
    expect(await pages.service.get(`/v1/ci/${owner}/repositories/${repository}/settings`)).toMatchObject({
      auto_quarantine: 'flaky',
      quarantine_limit: 20,
      default_branch: 'trunk',
    });
  });

  test('delete a repository after they typed its name, and find it no longer', async () => {
    const path = uniqueRepository();
    const gone = `${path.owner}/${path.name}`;
    await pages.service.stores.repositories.record(path);
    await pages.on({}, async ({ page, open }) => {
      await open(`/${gone}/settings`);
      await page.getByRole('button', { name: 'Delete …' }).click();
      const dialog = page.getByRole('dialog', { name: `Delete ${gone}` });
      await dialog.getByText('What goes').waitFor();
      await dialog.getByText('This cannot be undone').waitFor();
      const button = dialog.getByRole('button', { name: 'Delete for good' });
      await dialog.getByLabel(`Type ${gone} to delete it`).fill(path.name);
      expect(await button.isDisabled()).toBe(true);
      expect(await violationsOn(page)).toEqual([]);
      await dialog.getByLabel(`Type ${gone} to delete it`).fill(gone);
      await button.click();
      await page.getByRole('heading', { name: 'Repositories' }).waitFor();
      await page.getByRole('link', { name, exact: true }).first().waitFor();
      expect(await page.getByRole('link', { name: gone, exact: true }).count()).toBe(0);
    });
    expect(await pages.service.stores.repositories.find(path.owner, path.name)).toBeUndefined();
  });

  test('see what changed in each repository on a phone, without scrolling sideways', async () => {
    await pages.on({ viewport: { width: 390, height: 844 } }, async ({ page, open }) => {
      await open('');
      const table = page.getByRole('region', { name: 'What changed' }).getByRole('table');
      await table.getByRole('link', { name, exact: true }).waitFor();
      const [needed = 0, given = 0] = await table.evaluate((element) => [
        element.scrollWidth,
        element.parentElement?.clientWidth,
      ]);
      expect(given).toBeGreaterThan(0);
      expect(needed).toBeLessThanOrEqual(given);
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('say where a repository is hosted, and its links follow', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`/${name}/settings`);
      const form = page.getByRole('form', { name: `Settings of ${name}` });
      await form.getByText('No one has said it yet').waitFor();
      await form.getByLabel('Repository host').selectOption('Gitea or Forgejo');
      await form.getByLabel('Address of the repository there').fill('https://git.example.com/shop');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByRole('status').getByText('Saved.').waitFor();
      expect(await violationsOn(page)).toEqual([]);
      const { owner, name: repository } = insights.fixture.repository;
      const host = () => pages.service.get(`/v1/ci/${owner}/repositories/${repository}/host`);
      expect(await host()).toMatchObject({ kind: 'gitea', url: 'https://git.example.com/shop', source: 'setting' });
      await form.getByLabel('Address of the repository there').fill('https://ann:secret@git.example.com/shop');
      await page.keyboard.press('Enter');
      await form.getByRole('alert').getByText('without password').waitFor();
      await page.reload();
      expect(await form.getByLabel('Repository host').inputValue()).toBe('gitea');
      await form.getByLabel('Repository host').selectOption('as webhooks, identity tokens or uploads say');
      await form.getByRole('button', { name: 'Save' }).click();
      await form.getByText('No one has said it yet').waitFor();
      expect(await host()).toMatchObject({ kind: null, source: null });
    });
  });
});

describe.skipIf(!hasBrowser)('the rules of owners', () => {
  const rulesNow = async () => {
    const { owner, name: repository } = insights.fixture.repository;
    const settings = await pages.service.get(`/v1/ci/${owner}/repositories/${repository}/settings`);
    return (settings as { test_owners: unknown }).test_owners;
  };

  test('are added, moved, edited and removed, and refused with a reason', async () => {
    await pages.on({}, async ({ page, open }) => {
      await open(`/${name}/settings`);
      const form = page.getByRole('form', { name: 'Rules of owners' });
      const save = async () => {
        await form.getByRole('button', { name: 'Save the rules' }).click();
        await form.getByRole('button', { name: 'Save the rules', disabled: true }).waitFor();
      };
      await form.getByText('There is no rule.').waitFor();
      await form.getByRole('button', { name: 'Add a rule' }).click();
      await form.getByLabel('Files of rule 1').fill('/src/cart/');
      await form.getByLabel('Owners of rule 1').fill('@acme/cart, @acme/web');
      await form.getByText('It matches no test.').waitFor();
      await form.getByLabel('Files of rule 1').fill('');
      await form.getByLabel('Tests of rule 1').fill('*');
      await form.getByText(/^It is for \d+ tests?\.$/).waitFor();
      await form
        .getByRole('region', { name: 'Preview' })
        .getByText('no owner → @acme/cart, @acme/web')
        .first()
        .waitFor();
      expect(await violationsOn(page)).toEqual([]);
      await form.getByRole('button', { name: 'Add a rule' }).click();
      await form.getByLabel('Tests of rule 2').fill('*');
      await form.getByText(/^It is for no test: later rules win for all of/).waitFor();
      await form.getByText(/^No test of \d+ would change its owners\.$/).waitFor();
      expect(await rulesNow()).toEqual([]);
      await form.getByLabel('Tests of rule 1').fill('');
      await form.getByLabel('Files of rule 1').fill('/src/cart/');
      await form.getByLabel('Tests of rule 2').fill('Cart > *');
      await save();
      expect(await rulesNow()).toEqual([
        { file: '/src/cart/', owners: ['@acme/cart', '@acme/web'] },
        { test_name: 'Cart > *', owners: [] },
      ]);
      await form.getByRole('button', { name: 'Move rule 2 up' }).click();
      await form.getByLabel('Owners of rule 1').fill('@acme/qa');
      await save();
      await form.getByRole('button', { name: 'Remove rule 2' }).click();
      await save();
      expect(await rulesNow()).toEqual([{ test_name: 'Cart > *', owners: ['@acme/qa'] }]);
      await form.getByLabel('Tests of rule 1').fill('');
      await form.getByRole('button', { name: 'Save the rules' }).click();
      await form.getByRole('alert').getByText('needs test_name, file, or both').waitFor();
      expect(await violationsOn(page)).toEqual([]);
    });
  });

  test('are shown to those who may not change them', async () => {
    const { owner, name: repository } = insights.fixture.repository;
    const key = await pages.service.makeKey({ owner, repositories: [repository], scope: 'view' });
    await pages.on({ key }, async ({ page, open }) => {
      await open(`/${name}/settings`);
      expect(await page.getByLabel('Owners of rule 1').isDisabled()).toBe(true);
      expect(await page.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
    });
  });
});

describe.skipIf(!hasBrowser)('the list of repositories', () => {
  test('shows what failed by day, the newest run and the lag, and leads to the repository', async () => {
    const { owner, name: repository } = insights.fixture.repository;
    const key = await pages.service.makeKey({ owner, repositories: [repository], scope: 'view' });
    await pages.on({ key }, async ({ page, open }) => {
      await open('');
      const row = page
        .getByRole('table', { name: 'Repositories', exact: true })
        .getByRole('row', { name: new RegExp(`^${name}`) });
      await row.getByRole('img', { name: '1 failed execution in 14 days' }).waitFor();
      expect(await row.getByRole('cell').allTextContents()).toContain('0 s');
      expect(await violationsOn(page)).toEqual([]);
      expect(await row.locator('time').first().getAttribute('datetime')).toBe(new Date(at(2)).toISOString());
      await row.getByRole('link').click();
      await page.waitForURL(new RegExp(`/app/${name}$`));
    });
  });

  test(`of ${REPOSITORIES} repositories has only those in view, and finds one by its name in the address`, async () => {
    const key = await pages.service.makeKey({ owner: OWNER, scope: 'view' });
    await pages.on({ key }, async ({ page, open }) => {
      await open('');
      await page.getByRole('link', { name: `${OWNER}/repository-00001` }).waitFor();
      expect(await page.locator('[data-index]').count()).toBeLessThan(60);
      // The first hundred are there before the others.
      await page.locator(`table[aria-rowcount="${REPOSITORIES + 1}"]`).waitFor();
      await page.evaluate('window.scrollTo(0, document.documentElement.scrollHeight / 2)');
      await page.getByRole('link', { name: `${OWNER}/repository-05000` }).waitFor();
      expect(await page.locator('[data-index]').count()).toBeLessThan(60);
      await page.getByLabel('Find a repository').fill('09999');
      await page.getByRole('link', { name: `${OWNER}/repository-09999` }).waitFor();
      await page.waitForURL(/q=09999/);
      await page.reload();
      await page.getByRole('link', { name: `${OWNER}/repository-09999` }).waitFor();
      expect(await page.locator('[data-index]').count()).toBe(1);
    });
  });
});
