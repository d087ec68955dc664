/** Builds the HTTP app from its dependencies; reads no environment and does not listen. */
import { Elysia } from 'elysia';
import { mountApplication } from './access/application.ts';
import { KeyCredentials } from './access/credential.ts';
import type { ClickHouse } from './clickhouse/client.ts';
import type { Clock } from './clock.ts';
import { mountEvents } from './events/routes.ts';
import type { CredentialSource } from './http/auth.ts';
import { allowLongAddresses, createFallback, requestIdOf, withSingleSlash } from './http/edge.ts';
import { type Feature, type Http, problemFor } from './http/operation.ts';
import { problemResponse, unprocessableBody } from './http/problems.ts';
import { mountInsights } from './insights/routes.ts';
import type { Logger } from './observability/log.ts';
import { requestsUnmatched } from './observability/metrics.ts';
import { docsPlugin } from './openapi/page.ts';
import { mountHealth } from './operate/health.ts';
import type { Postgres } from './postgres/client.ts';
import type { KeyStore } from './postgres/keys.ts';
import type { Notifications } from './postgres/notifications.ts';
import type { QuarantineStore } from './postgres/quarantines.ts';
import type { RepositoryStore } from './postgres/repositories.ts';
import type { Probes } from './probes.ts';
import { QuarantineLists } from './quarantines/lists.ts';
import { mountQuarantines } from './quarantines/routes.ts';

export interface AppDeps {
  clock: Clock;
  log: Logger;
  /** Address under which clients reach the service, without a trailing slash; undefined: taken from the request. */
  publicUrl: string | undefined;
  clickhouse: ClickHouse;
  postgres: Pick<Postgres, 'db' | 'ping'>;
  repositories: RepositoryStore;
  quarantines: QuarantineStore;
  /** Not connected yet: the app first registers for changes of quarantines. */
  notifications: Notifications;
  keys: KeyStore;
  /** Other kinds of credentials, which recognise their tokens by a prefix; asked before the application keys. */
  credentials?: readonly CredentialSource[];
  /** Probes of further stores, such as the queue. */
  probes?: Probes;
  /** What else is mounted, such as the ingest gateway: `(app, http) => mountIngest(app, http, deps)`. */
  features?: readonly Feature[];
}

/**
 * @example
 * const app = buildApp({ ...deps, publicUrl: config.publicUrl, keys: new KeyStore(deps.postgres.db, deps.clock) });
 * app.listen({ hostname: config.host, port: config.port });
 */
export function buildApp(deps: AppDeps) {
  const { clock, log, publicUrl, clickhouse, postgres, repositories, quarantines, keys } = deps;
  allowLongAddresses();
  const credentials = [...(deps.credentials ?? []), new KeyCredentials(keys)];
  const http: Http = { clock, log, publicUrl, credentials, operations: [] };
  // Requests that routing cannot serve, and faults outside of operations, which handle their own.
  const refuse = async (request: Request, code: string | number, error: unknown): Promise<Response> => {
    const tolerated = code === 'NOT_FOUND' ? withSingleSlash(request) : undefined;
    if (tolerated) return app.handle(tolerated);
    const requestId = requestIdOf(request);
    if (code === 'PARSE') return problemResponse(unprocessableBody('cannot be read'), requestId);
    if (code !== 'NOT_FOUND') return problemFor(error, log, requestId);
    requestsUnmatched.inc();
    return problemResponse(fallback(new URL(request.url).pathname), requestId);
  };
  // By default Elysia looks for the path from the 12th character of the address on, and `http://ci/v1` is shorter.
  const app = new Elysia({ name: 'ci-insights', handler: { standardHostname: false } }).onError(
    { as: 'global' },
    ({ request, code, error }) => refuse(request, code, error),
  );
  mountApplication(app, http);
  mountHealth(app, http, { clickhouse: () => clickhouse.ping(), postgres: () => postgres.ping(), ...deps.probes });
  mountInsights(app, http, { clock, clickhouse, repositories, db: postgres.db });
  mountQuarantines(app, http, {
    repositories,
    quarantines,
    lists: new QuarantineLists(quarantines, deps.notifications),
  });
  mountEvents(app, http, { clock, clickhouse, repositories });
  for (const feature of deps.features ?? []) feature(app, http);
  app.use(docsPlugin(http));
  const fallback = createFallback(app.routes);
  return app;
}
