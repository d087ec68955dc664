/** The demo, started like anyone who wants to see what the service is, and signed in by the link that it prints. */
import { resolve } from 'node:path';
import type { BrowserContextOptions } from 'playwright-core';
import { visit } from './browser.ts';
import { makeFolder } from './folder.ts';
import { soon } from './patience.ts';

export interface Demo {
  origin: string;
  /** Of a browser that has signed in. */
  storageState: NonNullable<BrowserContextOptions['storageState']>;
  /** What it printed. */
  printed: string;
  stop(): Promise<unknown>;
}

export async function openDemo(): Promise<Demo> {
  const child = Bun.spawn([process.execPath, resolve(import.meta.dir, '../../scripts/demo.ts')], {
    env: { ...process.env, PORT: '0', TMPDIR: makeFolder('demo') },
    stdout: 'pipe',
    stderr: 'inherit',
  });
  const stop = (): Promise<unknown> => {
    child.kill('SIGTERM');
    return child.exited;
  };
  const { link, printed } = await soon('link of the demo', linkOf(child.stdout));
  const { origin } = new URL(link);
  const { page, context } = await visit(origin, { isNow: true });
  await page.goto(link);
  await page.getByRole('link', { name: 'acme/shop' }).first().waitFor();
  const storageState = await context.storageState();
  await context.close();
  return { origin, storageState, printed, stop };
}

async function linkOf(output: ReadableStream<Uint8Array>): Promise<{ link: string; printed: string }> {
  let printed = '';
  for await (const bytes of output) {
    printed += new TextDecoder().decode(bytes);
    const link = /http:\S+\/sign-in#\S+/.exec(printed)?.[0];
    if (link !== undefined) return { link, printed };
  }
  throw new Error(`the demo ended without a link: ${printed}`);
}
