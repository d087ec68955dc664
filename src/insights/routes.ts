/** All operations on test insights. */
import type { AnyElysia } from 'elysia';
import { FairQueue } from '../fair-queue.ts';
import type { Http } from '../http/operation.ts';
import { SEARCH_SHARES } from '../postgres/test-search.ts';
import type { InsightsDeps } from './common.ts';
import { mountDetails } from './details.ts';
import { mountExecutions } from './executions.ts';
import { mountFailure, mountFailures } from './failures.ts';
import { KnownTests } from './known-tests.ts';
import { mountNotOffered } from './not-offered.ts';
import { mountSearch } from './search.ts';
import { mountStats } from './stats.ts';

export function mountInsights(app: AnyElysia, http: Http, stores: Omit<InsightsDeps, 'knownTests' | 'searches'>): void {
  const deps = { ...stores, knownTests: new KnownTests(stores.db), searches: new FairQueue(SEARCH_SHARES) };
  for (const mountOne of [mountSearch, mountDetails, mountStats, mountFailures, mountFailure, mountExecutions])
    mountOne(app, http, deps);
  mountNotOffered(app, http);
}
