/** Pages of the web application for the tests of a file, on the test stores. */
import { afterAll, beforeAll, expect } from 'bun:test';
import { hasBrowser, type Visit, type VisitOptions, visit } from './browser.ts';
import type { InsightsSetUp } from './insights.ts';
import { openServiceApp, type ServiceApp } from './service-app.ts';

export interface PagesSetUp {
  readonly service: ServiceApp;
  readonly origin: string;
  /** The address of the repository's pages: `/owner/name`. */
  readonly base: string;
  /** Runs with a page of an admin, and fails if a script failed or the policy refused something. */
  on(options: VisitOptions, run: (visit: Visit) => Promise<void>): Promise<void>;
}

/** Opens a page, and fails if a script failed or the policy refused something. */
export async function onPage(
  origin: string,
  options: VisitOptions,
  run: (visit: Visit) => Promise<void>,
): Promise<void> {
  const opened = await visit(origin, options);
  try {
    await run(opened);
    expect(opened.errors).toEqual([]);
  } finally {
    await opened.context.close();
  }
}

export function setUpPages(insights: InsightsSetUp): PagesSetUp {
  let opened: ServiceApp | undefined;
  const get = (): ServiceApp => {
    if (!opened) throw new Error('the service is opened just before the first test of the file');
    return opened;
  };
  beforeAll(async () => {
    if (hasBrowser) opened = await openServiceApp();
  });
  afterAll(() => opened?.stop());
  return {
    get service() {
      return get();
    },
    get origin() {
      return `http://127.0.0.1:${get().port}`;
    },
    get base() {
      const { owner, name } = insights.fixture.repository;
      return `/${owner}/${name}`;
    },
    on(options, run) {
      return onPage(this.origin, { key: get().adminToken, ...options }, run);
    },
  };
}
