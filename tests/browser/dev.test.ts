/** `bun run dev`: open pages reload when a file of theirs is saved and bundled, and stay as they are when that fails. */
import { expect, test } from 'bun:test';
import { cpSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { startDev } from '../../scripts/dev.ts';
import { hasBrowser } from '../support/browser.ts';
import { onPage, setUpPages } from '../support/browser-setup.ts';
import { makeFolder } from '../support/folder.ts';
import { ingestHistory, setUpInsights } from '../support/insights.ts';
import { until } from '../support/patience.ts';

const insights = setUpInsights(ingestHistory);
const pages = setUpPages(insights);

test.skipIf(!hasBrowser)(
  'a saved file reaches the open page, at the same address and with data of the service',
  async () => {
    const [watched, files] = [makeFolder('watched'), makeFolder('dist')];
    cpSync(resolve(import.meta.dir, '../../web/dist'), files, { recursive: true });
    let builds = 0;
    const dev = startDev({
      ...{ service: pages.origin, watched, files },
      build: async () => {
        builds++;
        if (readFileSync(join(watched, 'source.tsx'), 'utf8') === 'broken') return false;
        const manifest = JSON.parse(readFileSync(join(files, 'manifest.json'), 'utf8'));
        cpSync(join(files, manifest.style), join(files, 'styles-new.css'));
        writeFileSync(join(files, 'manifest.json'), JSON.stringify({ ...manifest, style: 'styles-new.css' }));
        return true;
      },
    });
    const save = async (text: string): Promise<void> => {
      const before = builds;
      writeFileSync(join(watched, 'source.tsx'), text);
      await until(() => builds !== before);
    };
    try {
      await onPage(dev.url.origin, { key: pages.service.adminToken }, async ({ page }) => {
        await page.goto(`${dev.url.origin}/app${pages.base}/runs?branch=main`);
        await page.getByRole('cell', { name: 'main' }).first().waitFor();
        let loads = 0;
        page.on('load', () => loads++);
        await save('broken');
        await save('good');
        await page.locator('link[href$="styles-new.css"]').waitFor({ state: 'attached' });
        await page.getByRole('cell', { name: 'main' }).first().waitFor();
        expect([loads, new URL(page.url()).search]).toEqual([1, '?branch=main']);
      });
    } finally {
      await dev.stop();
      for (const folder of [watched, files]) rmSync(folder, { recursive: true });
    }
  },
);
