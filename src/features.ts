/** Features of the service over HTTP. Each mounts its operations in the same way: as a function of the app. */
import { AccessTokens } from './access/access-token.ts';
import { mountApplication } from './access/application.ts';
import { mountCiExchange } from './access/ci-exchange.ts';
import { IdentityProvider } from './access/identity-provider.ts';
import { mountKeys } from './access/keys.ts';
import { mountSessions } from './access/sessions.ts';
import { mountSignIn } from './access/sign-in.ts';
import type { Clock } from './clock.ts';
import type { Deps } from './deps.ts';
import { mountDownload } from './download/routes.ts';
import { mountAggregate } from './events/aggregate.ts';
import { mountLog } from './events/log.ts';
import type { CredentialSource } from './http/auth.ts';
import type { Feature } from './http/operation.ts';
import { mountImports } from './imports/routes.ts';
import type { ImportRunner } from './imports/runner.ts';
import { importsOf } from './imports/runner.ts';
import type { IngestDeps } from './ingest/gateway.ts';
import type { Parse } from './ingest/parsing/task.ts';
import { mountPullRequests } from './ingest/pull-requests.ts';
import { mountReceiptLists } from './ingest/receipts.ts';
import { mountIngest } from './ingest/routes.ts';
import { mountWebhooks, type WebhookDeps } from './ingest/webhooks/routes.ts';
import { mountInsights } from './insights/routes.ts';
import { mountMcp } from './mcp/routes.ts';
import { docsPlugin } from './openapi/page.ts';
import { mountAudit } from './operate/audit.ts';
import { mountDeadLetters } from './operate/dead-letters.ts';
import { mountHealth, readinessOf } from './operate/health.ts';
import type { Monitoring } from './operate/monitoring.ts';
import { mountPeople } from './operate/people.ts';
import { mountRepositoryDeletion } from './operate/repository-deletion.ts';
import { mountRepositorySettings } from './operate/repository-settings.ts';
import { mountTestsForgetting } from './operate/tests-forgetting.ts';
import { mountVerifications } from './operate/verifications.ts';
import type { Probes } from './probes.ts';
import { mountBacktests } from './quarantines/backtests.ts';
import { mountCauseQuarantine } from './quarantines/cause-quarantine.ts';
import { mountCauseTerms } from './quarantines/cause-terms.ts';
import { QuarantineLists } from './quarantines/lists.ts';
import { mountQuarantines } from './quarantines/routes.ts';
import { IMPORTED_JOBS_MAX, importedTestRuns } from './queue/imported-test-runs.ts';
import { largeTestRuns } from './queue/large-test-runs.ts';
import { prEvents, prEventsJobId } from './queue/pr-events.ts';
import { testRuns } from './queue/test-runs.ts';
import { uploadBundles } from './queue/upload-bundles.ts';
import { mountViews } from './views/routes.ts';
import { mountWeb } from './web/routes.ts';

/** Where access tokens of the identity provider are looked up; nowhere without one. */
export const accessTokensOf = (clock: Clock, oidc: Deps['config']['oidc']): CredentialSource[] => {
  const identity = identityOf(clock, oidc);
  return oidc && identity
    ? [new AccessTokens({ clock, ...identity, issuer: oidc.issuer, audiences: oidc.audiences })]
    : [];
};

/** The identity provider, and whom its word lets in; undefined: people sign in with application keys only. */
export const identityOf = (clock: Clock, oidc: Deps['config']['oidc']) =>
  oidc && { provider: new IdentityProvider({ clock, ...oidc }), rules: oidc.rules };

export type CoreDeps = Pick<
  Deps,
  | 'clock'
  | 'clickhouse'
  | 'postgres'
  | 'keys'
  | 'sessions'
  | 'repositories'
  | 'quarantines'
  | 'notifications'
  | 'probes'
> & {
  /** Undefined: people sign in with application keys only. */
  oidc?: Deps['config']['oidc'];
  /** Undefined: CI jobs need keys. */
  ciTokens?: Deps['config']['ciTokens'];
  /** Undefined: the service writes nothing at hosts. */
  commentsConfig?: Deps['config']['commentsConfig'];
};

/**
 * Reads, quarantines, health, and the client for CI jobs. `notifications` must not be connected yet: the lists of
 * quarantines listen.
 */
export function coreFeatures(deps: CoreDeps): Feature[] {
  const {
    clock,
    clickhouse,
    keys,
    sessions,
    repositories,
    quarantines,
    notifications,
    probes,
    oidc,
    ciTokens,
    commentsConfig,
  } = deps;
  const { db } = deps.postgres;
  const identity = identityOf(clock, oidc);
  return [
    mountApplication,
    (app, http) => mountSessions(app, http, { keys, sessions }),
    (app, http) => mountSignIn(app, http, { sessions, identity }),
    (app, http) => mountKeys(app, http, keys),
    (app, http) => mountCiExchange(app, http, { keys, repositories, config: ciTokens }),
    (app, http) => mountHealth(app, http, readinessOf(db, probes)),
    (app, http) =>
      mountInsights(app, http, {
        clock,
        clickhouse,
        repositories,
        quarantines,
        db,
        keptAtHost: commentsConfig,
        ciTokens,
      }),
    (app, http) => {
      const lists = new QuarantineLists(quarantines, notifications);
      mountQuarantines(app, http, { repositories, quarantines, lists });
    },
    (app, http) => mountCauseTerms(app, http, { repositories, db, clock }),
    (app, http) => mountCauseQuarantine(app, http, { repositories, quarantines }),
    (app, http) => mountRepositorySettings(app, http, { repositories }),
    (app, http) => mountRepositoryDeletion(app, http, { db, clickhouse, repositories, clock }),
    (app, http) => mountTestsForgetting(app, http, { db, clickhouse, repositories, clock }),
    (app, http) => mountViews(app, http, { db, clock, repositories }),
    (app, http) => mountBacktests(app, http, { db, clock, repositories }),
    (app, http) => mountVerifications(app, http, { db, clock }),
    (app, http) => mountPeople(app, http, { db, clock }),
    (app, http) => mountAudit(app, http, { db, clock }),
    (app, http) => mountLog(app, http, { clock, clickhouse, repositories }),
    (app, http) => mountAggregate(app, http, { clock, clickhouse, repositories }),
    mountDownload,
    (app, http) => mountMcp(app, http, oidc),
  ];
}

/** The gateway and the host's webhooks. */
const ingestFeatures = (deps: Deps, parse?: Parse): Feature[] => [
  (app, http) => mountIngest(app, http, gatewayOf(deps, parse)),
  (app, http) => mountPullRequests(app, http, webhooksOf(deps)),
  (app, http) => mountWebhooks(app, http, webhooksOf(deps)),
];

/** Everything that the API's port offers, in the order of its document. */
export const serviceFeatures = (
  deps: Deps,
  probes: Probes,
  monitoring: Monitoring,
  { parse, imports }: { parse?: Parse | undefined; imports: ImportRunner },
): Feature[] => [
  ...coreFeatures({
    ...{ ...deps, probes, oidc: deps.config.oidc },
    ...{ ciTokens: deps.config.ciTokens, commentsConfig: deps.config.commentsConfig },
  }),
  ...monitoring.features,
  (app, http) => mountDeadLetters(app, http, deps),
  (app, http) => mountReceiptLists(app, http, deps.receipts),
  (app, http) => mountWeb(app, http, deps.config.oidc?.issuer),
  (app, http) => mountImports(app, http, { store: importsOf(deps), runner: imports, hosts: deps.config.hosts }),
  ...(deps.config.httpIngest ? ingestFeatures(deps, parse) : []),
  docs,
];

/** The OpenAPI document and its page. Must come last: it describes what is mounted. */
export const docs: Feature = (app, http) => void app.use(docsPlugin(http));

/** Dependencies of the gateway: it enqueues, and notes what it refuses. Without `parse`, it parses in this process. */
export const gatewayOf = (
  { clock, log, config, producers, receipts, repositories }: Deps,
  parse?: Parse,
): IngestDeps => ({
  ...(parse && { parse }),
  clock,
  log,
  limits: { sentBytesMax: config.compressedBytesMax, unpackedBytesMax: config.unpackedBytesMax },
  enqueue: (jobs, track) => producers.of(TRACKS[track]).addPacked(jobs),
  isImportFull: async () => (await producers.of(importedTestRuns).depth()) >= IMPORTED_JOBS_MAX,
  enqueueBundle: (bundle) => producers.of(uploadBundles).addPacked([bundle]),
  writeRefusals: (refusals) => receipts.noteRefusals(refusals, clock.now()),
  noteGate: ({ owner, name }) => repositories.noteGate(owner, name),
  receipt: ({ owner, name }, uploadId) => receipts.find(owner, name, uploadId),
});

const TRACKS = { small: testRuns, large: largeTestRuns, imported: importedTestRuns } as const;

/** Dependencies of the host's webhooks: they also only enqueue. */
export const webhooksOf = ({ log, config, producers }: Deps): WebhookDeps => ({
  log,
  hosts: config.hosts,
  limits: { sentBytesMax: config.compressedBytesMax, unpackedBytesMax: config.unpackedBytesMax },
  enqueueEvents: (id, job) => producers.of(prEvents).add(job, prEventsJobId(id)),
});
