/** Opens the stores and queues that a process needs, and closes them in reverse order. */
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { type ClickHouse, openClickHouse } from './clickhouse/client.ts';
import { migrateClickHouse } from './clickhouse/migrate.ts';
import { observed } from './clickhouse/observed.ts';
import type { RemoteEngines } from './clickhouse/remote.ts';
import { assertDropsRepeats } from './clickhouse/tokens.ts';
import type { Clock } from './clock.ts';
import { type Config, secretsOf } from './config.ts';
import { ReceiptStore } from './ledger/receipts.ts';
import { repairBlocks } from './ledger/repair.ts';
import { repairEvents } from './ledger/repair-events.ts';
import { noteNewInstallation } from './maintenance/regroup-online.ts';
import { createLogger, type Logger } from './observability/log.ts';
import { openPostgres, type Postgres, sessionUrlOf } from './postgres/client.ts';
import { ALWAYS_AGREED, type ClockAgreement, ClockWatch } from './postgres/clock-watch.ts';
import { DeadLetterStore } from './postgres/dead-letters.ts';
import { startEmbeddedPostgres } from './postgres/embedded.ts';
import { KeyStore } from './postgres/keys.ts';
import { migratePostgres } from './postgres/migrate.ts';
import { Notifications } from './postgres/notifications.ts';
import { OUTBOX_CONSUMERS, registerConsumers } from './postgres/outbox-consumers.ts';
import { QuarantineStore } from './postgres/quarantines.ts';
import { RepositoryStore } from './postgres/repositories.ts';
import { SessionStore } from './postgres/sessions.ts';
import type { Probes } from './probes.ts';
import { yieldProcess } from './processes.ts';
import { limitOrdered, type QueueBackend } from './queue/backend.ts';
import { migrateQueues, openQueues } from './queue/open.ts';
import { Producers } from './queue/producer.ts';
import { lockDataDir, lockHolder } from './service-lock.ts';

/** Dependencies of what needs only PostgreSQL: enough for keys, settings and dead letters, even while the service runs. */
export interface PostgresDeps {
  config: Config;
  clock: Clock;
  /** Whether the machine's clock agrees with that of PostgreSQL. */
  clockAgreement: ClockAgreement;
  log: Logger;
  /** Address of PostgreSQL, embedded or configured. Contains a password. */
  databaseUrl: string;
  postgres: Postgres;
  repositories: RepositoryStore;
  keys: KeyStore;
  sessions: SessionStore;
  deadLetters: DeadLetterStore;
  quarantines: QuarantineStore;
  close(): Promise<void>;
}

export interface Deps extends PostgresDeps {
  clickhouse: ClickHouse;
  /** The same ClickHouse over separate connections, for evaluation and retention: reads do not queue behind them. */
  background: ClickHouse;
  queues: QueueBackend;
  producers: Producers;
  receipts: ReceiptStore;
  /** Whether each store answers. */
  probes: Probes;
  /** Not connected yet: listeners register first, then `connect` is called once. */
  notifications: Notifications;
}

/** Stores that another process of the service has opened. It has locked the folder, and migrated what needs it. */
interface SharedStores {
  databaseUrl: string;
  /** The embedded ClickHouse, over connections for reads and for background work. Undefined: ClickHouse is a server. */
  engines: RemoteEngines | undefined;
}

/** The steps of a start that take time, in order. */
export type StartStep = 'postgres' | 'queue' | 'clickhouse' | 'parts';

export interface Overrides {
  clock?: Clock;
  log?: Logger;
  /** Called when a step begins. */
  onStep?(step: StartStep): void;
  shared?: SharedStores;
}

/** The data folder of the embedded ClickHouse. */
export const engineFolder = ({ dataDir }: Config): string => join(dataDir, 'clickhouse');

/** Closes what was opened, in reverse order, even if opening stopped halfway. */
class Closers {
  readonly #closers: (() => unknown)[] = [];
  add(close: () => unknown): void {
    this.#closers.push(close);
  }
  readonly close = async (): Promise<void> => {
    for (let close = this.#closers.pop(); close; close = this.#closers.pop()) await close();
  };
}

/** Opens everything. Embedded stores belong to one process: a second one gets a {@link UserError}. */
export async function openDeps(config: Config, overrides: Overrides = {}): Promise<Deps> {
  const closers = new Closers();
  const { shared } = overrides;
  try {
    if (!shared && (!config.databaseUrl || !config.clickhouseUrl)) closers.add(await lockDataDir(config.dataDir));
    const onStep = (step: StartStep): void => overrides.onStep?.(step);
    onStep('postgres');
    const base = await openPostgresParts(config, overrides, closers, false);
    onStep('queue');
    const onQueueError = (error: Error): void => base.log.warn({ err: error }, 'the queue reported an error');
    if (!shared) await registerConsumers(base.postgres.db, OUTBOX_CONSUMERS);
    if (!shared) await migrateQueues(config, base.databaseUrl);
    const queues = await openQueues(config, base.databaseUrl, onQueueError);
    closers.add(() => queues.close());
    if (!shared) await limitOrdered(queues);
    const producers = new Producers(queues);
    closers.add(() => producers.close());
    onStep('clickhouse');
    const server = {
      url: config.clickhouseUrl,
      path: engineFolder(config),
      cluster: config.clickhouseCluster,
      database: config.clickhouseDatabase,
    };
    const clickhouse = await openClickHouse({ ...server, engine: shared?.engines?.main });
    closers.add(() => clickhouse.close());
    const background = await openClickHouse({ ...server, engine: shared?.engines?.background });
    closers.add(() => background.close());
    if (!shared) await prepareClickHouse(clickhouse, config, base);
    onStep('parts');
    await noteNewInstallation(base.postgres.db);
    const receipts = new ReceiptStore({
      db: base.postgres.db,
      repositories: base.repositories,
      producers,
    });
    const notifications = new Notifications({
      url: sessionUrlOf(config, base.databaseUrl),
      notify: (channel) => base.postgres.pool.query('select pg_notify($1, $2)', [channel, '']),
      onError: (error) =>
        base.log.warn({ err: error }, 'no notifications; polling for changes of other processes until they are back'),
    });
    closers.add(() => notifications.close());
    return {
      ...base,
      queues,
      producers,
      clickhouse: observed(clickhouse),
      background: observed(background),
      receipts,
      probes: {
        clickhouse: () => clickhouse.ping(),
        postgres: () => base.postgres.ping(),
        queue: () => queues.ping(),
      },
      notifications,
      close: closers.close,
    };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

/** Migrates ClickHouse, sees that a server drops repeats, and completes what a power loss left of the embedded engine's inserts. */
async function prepareClickHouse(
  clickhouse: ClickHouse,
  config: Config,
  { postgres, log }: Pick<PostgresDeps, 'postgres' | 'log'>,
): Promise<void> {
  await migrateClickHouse(clickhouse);
  if (config.clickhouseUrl) return assertDropsRepeats(clickhouse);
  // No other process uses the embedded engine, and nothing is inserted yet.
  const unfinished = { clickhouse, db: postgres.db, log };
  await repairBlocks(unfinished);
  await repairEvents(unfinished);
}

/** Opens PostgreSQL only. If a service is running on the same data folder, uses its server. */
export async function openPostgresDeps(config: Config, overrides: Overrides = {}): Promise<PostgresDeps> {
  const closers = new Closers();
  try {
    const isServed = !config.databaseUrl && lockHolder(config.dataDir) !== undefined;
    if (!config.databaseUrl && !isServed) closers.add(await lockDataDir(config.dataDir));
    const base = await openPostgresParts(config, overrides, closers, isServed);
    return { ...base, close: closers.close };
  } catch (error) {
    await closers.close();
    throw error;
  }
}

async function openPostgresParts(config: Config, overrides: Overrides, closers: Closers, attach: boolean) {
  const log = overrides.log ?? createLogger(config.logLevel, undefined, secretsOf(config));
  const { shared } = overrides;
  const databaseUrl =
    shared?.databaseUrl ?? config.databaseUrl ?? (await embeddedUrl(config.dataDir, attach, log, closers));
  const onBroken = (error: Error): void => log.warn({ err: error }, 'a PostgreSQL connection broke');
  const postgres = openPostgres(databaseUrl, onBroken, { isEmbedded: !config.databaseUrl });
  closers.add(() => postgres.close());
  if (!config.databaseUrl) yieldBackends(postgres);
  if (!shared) await migratePostgres(postgres);
  const { clock, clockAgreement } = await clockOf(overrides, postgres, log, closers);
  const repositories = new RepositoryStore(postgres.db, clock);
  const keys = new KeyStore(postgres.db, clock);
  const sessions = new SessionStore(postgres.db, clock);
  const deadLetters = new DeadLetterStore(postgres.db, clock);
  const quarantines = new QuarantineStore(postgres.db, clock);
  return {
    databaseUrl,
    config,
    clock,
    clockAgreement,
    log,
    postgres,
    repositories,
    keys,
    sessions,
    deadLetters,
    quarantines,
  };
}

/** The embedded server works for this process at its priority: each connection has a process. */
function yieldBackends({ pool }: Postgres): void {
  const niceness = getPriority();
  if (niceness <= 0) return;
  pool.on('connect', (client) => {
    if ('processID' in client && typeof client.processID === 'number') yieldProcess(client.processID, niceness);
  });
}

async function embeddedUrl(dataDir: string, attach: boolean, log: Logger, closers: Closers): Promise<string> {
  const server = await startEmbeddedPostgres(dataDir, { attach, onRepair: (what) => log.warn(what) });
  closers.add(() => server.stop());
  return server.url;
}

async function clockOf(overrides: Overrides, postgres: Postgres, log: Logger, closers: Closers) {
  if (overrides.clock) return { clock: overrides.clock, clockAgreement: ALWAYS_AGREED };
  const watch = new ClockWatch(postgres.db, log);
  await watch.start();
  closers.add(() => watch.stop());
  return { clock: watch.clock, clockAgreement: watch };
}
