/** The service under test: `serve` as an operator starts it, everything embedded, on a new folder. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import type { z } from 'zod';
import { JUDGING_KINDS } from '../../src/domain/stale.ts';
import { startEmbeddedPostgres } from '../../src/postgres/embedded.ts';
import { embeddedFolder } from '../../src/postgres/embedded-folder.ts';
import { executionKinds } from '../../src/queue/kinds.ts';
import { openQueues } from '../../src/queue/open.ts';
import { Producer } from '../../src/queue/producer.ts';
import { atEnd } from '../support/at-end.ts';
import { ServiceProcess } from '../support/service-process.ts';
import type { DataOptions } from './data.ts';
import { type Feed, type RunningFeed, startFeed } from './feed.ts';

const POLL_MS = 25;

export class BenchService {
  readonly #redisUrl = process.env.REDIS_URL;
  readonly #service: ServiceProcess;
  #pool: pg.Pool | undefined;
  #depth: (() => Promise<number>) | undefined;
  #closeQueues: (() => Promise<void>) | undefined;
  #stopping: Promise<void> | undefined;
  databaseUrl = '';

  constructor(
    readonly folder: string,
    environment: Readonly<Record<string, string>> = {},
  ) {
    this.#service = ServiceProcess.onFolder(folder, { REDIS_URL: this.#redisUrl, ...environment });
    // When the benchmark is interrupted.
    atEnd(() => this.stop());
  }

  get pid(): number {
    return this.#service.pid;
  }

  get origin(): string {
    return this.#service.origin;
  }

  get authorization(): string {
    return `Bearer ${this.#service.adminToken}`;
  }

  request(path: string, init?: RequestInit): Promise<Response> {
    return this.#service.request(path, init);
  }

  /** Returns how long it took, in seconds. */
  async start(): Promise<number> {
    const started = performance.now();
    await this.#service.start();
    const seconds = (performance.now() - started) / 1_000;
    this.databaseUrl = (await startEmbeddedPostgres(this.folder, { attach: true })).url;
    this.#pool = new pg.Pool({ connectionString: this.databaseUrl, max: 2 });
    // The server is stopped before the pool is.
    this.#pool.on('error', () => {});
    const queues = await openQueues(
      { redisUrl: this.#redisUrl, databaseDirectUrl: undefined },
      this.databaseUrl,
      () => {},
    );
    const producers = executionKinds.map((kind) => new Producer<z.ZodType>(queues, kind));
    this.#depth = async () => {
      const depths = await Promise.all(producers.map((producer) => producer.depth()));
      return depths.reduce((sum, depth) => sum + depth, 0);
    };
    this.#closeQueues = async () => {
      for (const producer of producers) await producer.close();
      await queues.close();
    };
    return seconds;
  }

  /** An interruption and who stops it at that time wait for the same. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop().finally(() => {
      this.#stopping = undefined;
    });
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    await this.#closeQueues?.().catch(() => {});
    await this.#pool?.end();
    this.#closeQueues = undefined;
    this.#pool = undefined;
    await this.#service.stop();
  }

  async rows<Row extends pg.QueryResultRow>(text: string, values: unknown[] = []): Promise<Row[]> {
    if (!this.#pool) throw new Error('the service does not run');
    return (await this.#pool.query<Row>(text, values)).rows;
  }

  feed(source: DataOptions, options: Pick<Feed, 'from' | 'to' | 'isPackedFirst'> & { rate?: number }): RunningFeed {
    return startFeed({ databaseUrl: this.databaseUrl, redisUrl: this.#redisUrl, source, ...options });
  }

  /**
   * Returns when everything that was queued is stored and evaluated. Counting jobs costs PostgreSQL much more than
   * looking for a pending block, so it waits until there is none. A job may leave a block behind while jobs are counted.
   */
  async untilEvaluated(): Promise<void> {
    while (!(await this.#hasNoPendingBlock()) || (await this.#depth?.()) !== 0 || !(await this.#hasNoPendingBlock()))
      await Bun.sleep(POLL_MS);
  }

  /** Returns when everything is refreshed that passes of the evaluation have left stale. Durations and renames rest for long. */
  async untilNothingIsStale(): Promise<void> {
    const noted =
      "select 1 from ci_insights.stale where noted_at is not null and kind not in ('durations', 'renames') limit 1";
    while ((await this.rows(noted)).length > 0) await Bun.sleep(POLL_MS);
  }

  /** Returns when everything is judged that is evaluated, also what other legs and pull requests show. */
  async untilJudged(): Promise<void> {
    const noted = `select 1 from ci_insights.stale where noted_at is not null and kind in ('${JUDGING_KINDS.join("', '")}') limit 1`;
    do await this.untilEvaluated();
    while ((await this.rows(noted)).length > 0);
  }

  async #hasNoPendingBlock(): Promise<boolean> {
    const pending = await this.rows(
      'select 1 from ci_insights.ingest_blocks where stored_at is null union all select 1 from ci_insights.block_parts limit 1',
    );
    return pending.length === 0;
  }

  diskBytes(): { clickhouse: number; postgres: number } {
    const postgres = embeddedFolder(this.folder).path;
    const all = folderBytes(this.folder);
    const inPostgres = folderBytes(postgres);
    return { clickhouse: all - inPostgres, postgres: inPostgres };
  }
}

export function folderBytes(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    // The size of the log of changes does not depend on what is stored.
    if (entry.name === 'pg_wal') continue;
    try {
      bytes += entry.isDirectory() ? folderBytes(path) : statSync(path).size;
    } catch {
      // Merges remove files meanwhile.
    }
  }
  return bytes;
}
