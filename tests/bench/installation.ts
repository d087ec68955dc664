/** An installation of separate processes: two APIs and two workers on a server each of PostgreSQL, ClickHouse and Redis. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../src/config.ts';
import { type Deps, openDeps } from '../../src/deps.ts';
import { createLogger } from '../../src/observability/log.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { atEnd } from '../support/at-end.ts';
import { startRealClickHouse } from '../support/clickhouse-real/server.ts';
import { startRedis } from '../support/redis.ts';
import { ServiceProcess } from '../support/service-process.ts';

interface Running {
  /** Opened by this process, too. */
  deps: Deps;
  /** Where the APIs answer. */
  origins: string[];
  /** An admin key for every owner. */
  token: string;
}

export class Installation {
  readonly #closers: (() => Promise<unknown>)[] = [];
  #stopping: Promise<void> | undefined;

  /** @param folder of PostgreSQL and ClickHouse */
  constructor(private readonly folder: string) {
    // When the benchmark is interrupted.
    atEnd(() => this.stop());
  }

  async start(): Promise<Running> {
    const postgres = await startEmbeddedPostgres(this.folder);
    this.#closers.push(postgres.stop);
    const clickhouse = await startRealClickHouse([], { path: this.#folderOf('clickhouse-server') });
    this.#closers.push(clickhouse.stop);
    const redis = await startRedis();
    this.#closers.push(redis.stop);
    const stores = { DATABASE_URL: postgres.url, CLICKHOUSE_URL: clickhouse.url(), REDIS_URL: redis.url };
    const config = readConfig({ ...stores, DATA_DIR: this.#folderOf('bench') });
    const deps = await openDeps(config, { log: createLogger('error') });
    this.#closers.push(deps.close);
    const processOf = (command: 'serve' | 'worker', name: string, role: Record<string, string>): ServiceProcess =>
      new ServiceProcess(command, { ...stores, ...role, DATA_DIR: this.#folderOf(name) });
    const workers = ['worker-1', 'worker-2'].map((name) => processOf('worker', name, {}));
    const apis = ['api-1', 'api-2'].map((name) => processOf('serve', name, { ROLE: 'api', PORT: '0' }));
    for (const one of [...workers, ...apis]) {
      this.#closers.push(() => one.stop());
      await one.start();
    }
    const key = { name: 'bench', owner: null, scope: 'admin' as const, repositories: null, expiresAt: null };
    const { token } = await deps.keys.create(key);
    return { deps, origins: apis.map(({ origin }) => origin), token };
  }

  /** An interruption and the end of the run wait for the same. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    for (const close of this.#closers.splice(0).reverse()) await close();
  }

  #folderOf(name: string): string {
    const path = join(this.folder, name);
    mkdirSync(path, { recursive: true });
    return path;
  }
}
