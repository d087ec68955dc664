/** All operations on test insights. */
import type { AnyElysia } from 'elysia';
import { FairQueue } from '../fair-queue.ts';
import type { Http } from '../http/operation.ts';
import { SEARCH_SHARES } from '../postgres/test-search.ts';
import { mountCommitFailures } from './commit-failures.ts';
import type { InsightsDeps } from './common.ts';
import { mountDetails } from './details.ts';
import { mountExecutions } from './executions.ts';
import { mountFailure, mountFailures } from './failures.ts';
import { KnownTests } from './known-tests.ts';
import { mountNotOffered } from './not-offered.ts';
import { mountSearch } from './search.ts';
import { mountStats } from './stats.ts';

const MOUNTED = [
  mountSearch,
  mountDetails,
  mountStats,
  mountFailures,
  mountFailure,
  mountExecutions,
  mountCommitFailures,
];

export function mountInsights(app: AnyElysia, http: Http, stores: Omit<InsightsDeps, 'knownTests' | 'searches'>): void {
  const deps = { ...stores, knownTests: new KnownTests(stores.db), searches: new FairQueue(SEARCH_SHARES) };
  for (const mountOne of MOUNTED) mountOne(app, http, deps);
  mountNotOffered(app, http);
}
