/** All operations on test insights. */
import type { AnyElysia } from 'elysia';
import type { Http } from '../http/operation.ts';
import type { InsightsDeps } from './common.ts';
import { mountDetails } from './details.ts';
import { mountExecutions } from './executions.ts';
import { mountFailure, mountFailures } from './failures.ts';
import { mountNotOffered } from './not-offered.ts';
import { mountSearch } from './search.ts';
import { mountStats } from './stats.ts';

export function mountInsights(app: AnyElysia, http: Http, deps: InsightsDeps): void {
  for (const mountOne of [mountSearch, mountDetails, mountStats, mountFailures, mountFailure, mountExecutions])
    mountOne(app, http, deps);
  mountNotOffered(app, http);
}
