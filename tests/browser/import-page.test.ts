/** The import of a history from the page, in a real browser, from a server that answers as GitHub does. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { DAY_MS } from '../../src/domain/time.ts';
import { hasBrowser, isWithinWidth, keepPicture, PHONE, violationsOn, WIDE } from '../support/browser.ts';
import { onPage } from '../support/browser-setup.ts';
import { FakeGithub } from '../support/github-actions.ts';
import { setUpIngest } from '../support/ingest.ts';
import { pastOf } from '../support/past.ts';
import { openServiceApp, type ServiceApp } from '../support/service-app.ts';
import { uniqueRepository } from '../support/stores.ts';

const ingest = setUpIngest();
/** The command counts days by the clock of the machine. */
const NOW = Math.floor(Date.now() / DAY_MS) * DAY_MS;
const repository = uniqueRepository();
const path = `${repository.owner}/${repository.name}`;
let github: FakeGithub;
let service: ServiceApp;
beforeAll(async () => {
  github = new FakeGithub(path, pastOf({ seed: 5, until: NOW - DAY_MS, days: 3 }));
  service = await openServiceApp({ apiUrls: { github: github.url } });
  ingest.stores.clock.set(NOW + DAY_MS);
  ingest.driver.watch(repository);
});
afterAll(async () => {
  await service.stop();
  await github.stop();
});

describe.skipIf(!hasBrowser)('the page of a repository that has sent nothing', () => {
  test.each([
    ['en-US', WIDE],
    ['de-DE', PHONE],
  ] as const)('imports with a token that it asks for, and says what was taken, %s, %p', async (locale, viewport) => {
    const options = { key: service.adminToken, locale, viewport, isNow: true };
    await onPage(`http://127.0.0.1:${service.port}`, options, async ({ page, open }) => {
      await open(`/${path}/setup`);
      const form = page.getByRole('region', { name: 'Import its history' });
      const token = form.getByLabel('Token of the host');
      await token.fill('wrong');
      await form.getByRole('button', { name: /^(?:Import|Continue the import)$/ }).click();
      await form.getByRole('alert').filter({ hasText: 'Enter the token again to continue' }).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await isWithinWidth(page)).toBe(true);
      await token.fill('gh-token');
      await form.getByRole('button', { name: 'Continue the import' }).click();
      const finished = form.getByText('finished').waitFor();
      for (let isDone = false; !isDone; ) {
        await ingest.driver.settle();
        isDone = await Promise.race([finished.then(() => true), Bun.sleep(50).then(() => false)]);
      }
      await form.getByText(/reports with .* new executions/).waitFor();
      expect(await violationsOn(page)).toEqual([]);
      expect(await isWithinWidth(page)).toBe(true);
      await keepPicture(page, `import-page-${locale}-${viewport.width}`);
    });
  });
});
