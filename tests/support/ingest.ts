/** Drives ingestion in tests: queue, worker, evaluation, and the comparison that every such test ends with. */
import { afterAll, beforeAll, expect } from 'bun:test';
import { verify } from '../../src/maintenance/verify.ts';
import { eventOutbox } from '../../src/postgres/schema.ts';
import { executionKinds } from '../../src/queue/kinds.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { type RunningWorkers, startWorkers, type WorkerOptions } from '../../workers/main.ts';
import type { Relay } from '../../workers/relay.ts';
import { TEST_NOW } from './clock.ts';
import { openTestApp, type TestApp } from './http.ts';
import { until } from './patience.ts';
import { emptyStores, openTestStores, type TestStores } from './stores.ts';

/** Returns when no event waits in the outbox. */
export async function untilRelayed({ postgres }: TestStores, relay: Relay): Promise<void> {
  await until(
    async () => {
      await relay.drain();
      return postgres.db.$count(eventOutbox);
    },
    (waiting) => waiting === 0,
  );
}

type RepositoryPath = Pick<TestRunsJob['repository'], 'owner' | 'name'>;

export class IngestDriver {
  #workers: RunningWorkers;

  constructor(
    readonly stores: TestStores,
    private readonly options: WorkerOptions = {},
  ) {
    this.#workers = startWorkers(stores, { evaluationPauseMs: 0, ...options });
  }

  /** Starts the worker again after {@link stop}. */
  start(): void {
    this.#workers = startWorkers(this.stores, { evaluationPauseMs: 0, ...this.options });
  }

  /** Repositories in which something was stored, by path; those not yet verified are in {@link #unverified}. */
  readonly #repositories = new Map<string, RepositoryPath>();
  readonly #unverified = new Set<string>();

  /** Has {@link verify} check a repository that executions reach by another way than {@link ingest}. */
  watch(...repositories: readonly RepositoryPath[]): void {
    for (const { owner, name } of repositories) {
      this.#repositories.set(`${owner}/${name}`, { owner, name });
      this.#unverified.add(`${owner}/${name}`);
    }
  }

  /** Queues the jobs and returns when everything in them can be read and is evaluated. */
  async ingest(...jobs: TestRunsJob[]): Promise<void> {
    this.watch(...jobs.map(({ repository }) => repository));
    await this.stores.producers.of(testRuns).addMany(jobs);
    await this.settle();
  }

  /** Returns when the queues are empty, everything stored is evaluated, and every event is in the log. */
  async settle(): Promise<void> {
    const { producers } = this.stores;
    for (const queue of executionKinds.map(({ name }) => producers.ofQueue(name)))
      await until(async () => ((await queue?.depth()) ?? 0) === 0);
    // A test may have stored a block without these workers, which wakes no loop of theirs.
    for (const { loop } of this.#workers.evaluators) loop.wake();
    for (const { loop } of this.#workers.evaluators) await loop.idle();
    // What a request has left stale wakes no loop either.
    await this.refresh();
    await until(async () => (await this.stores.producers.of(prEvents).depth()) === 0);
    await untilRelayed(this.stores, this.#workers.relay);
  }

  get sweeper(): RunningWorkers['sweeper'] {
    return this.#workers.sweeper;
  }

  get deleter(): RunningWorkers['deleter'] {
    return this.#workers.deleter;
  }

  get evaluators(): RunningWorkers['evaluators'] {
    return this.#workers.evaluators;
  }

  /** Returns when nothing that is due is stale: judgements first, which leave summaries stale. */
  async refresh(): Promise<void> {
    for (const { loop } of this.#workers.refreshers) {
      loop.wake();
      await loop.idle();
    }
  }

  get renamer(): RunningWorkers['renamer'] {
    return this.#workers.renamer;
  }

  get retention(): RunningWorkers['retention'] {
    return this.#workers.retention;
  }

  /**
   * Fails if anything derived differs from the raw executions: in the repositories that something was stored in since the last
   * call, or in all that this driver knows if there are none. Repositories of other test files are left out, since that would
   * take longer with each file that ran before.
   */
  async verify(): Promise<void> {
    await this.settle();
    const paths = this.#unverified.size > 0 ? [...this.#unverified] : [...this.#repositories.keys()];
    this.#unverified.clear();
    if (paths.length === 0) throw new Error('nothing was stored, so there is nothing to verify');
    for (const path of paths) {
      const { owner, name } = this.#repositories.get(path) as RepositoryPath;
      const repository = await this.stores.repositories.find(owner, name);
      if (!repository) continue;
      const report = await verify(this.stores, repository.id);
      expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
      expect(report.pendingBlocks).toBe(0);
    }
  }

  stop(): Promise<void> {
    return this.#workers.stop();
  }
}

export interface IngestSetUp {
  readonly stores: TestStores;
  readonly driver: IngestDriver;
}

/**
 * The stores and a worker for the tests of a file, with the clock at {@link TEST_NOW} before and after them.
 *
 * @param isAlone without the repositories of other test files: see {@link emptyStores}.
 */
export function setUpIngest({ isAlone = false, ...options }: { isAlone?: boolean } & WorkerOptions = {}): IngestSetUp {
  let opened: IngestSetUp | undefined;
  const get = (): IngestSetUp => {
    if (!opened) throw new Error('the stores are opened just before the first test of the file');
    return opened;
  };
  beforeAll(async () => {
    const stores = await openTestStores();
    if (isAlone) await emptyStores(stores);
    stores.clock.set(TEST_NOW);
    opened = { stores, driver: new IngestDriver(stores, options) };
  });
  afterAll(async () => {
    await opened?.driver.stop();
    opened?.stores.clock.set(TEST_NOW);
  });
  return {
    get stores() {
      return get().stores;
    },
    get driver() {
      return get().driver;
    },
  };
}

/** The same with the app, as clients reach it. */
export function setUpApp(): IngestSetUp & { readonly app: TestApp } {
  const ingest = setUpIngest();
  let opened: TestApp | undefined;
  beforeAll(async () => {
    opened = await openTestApp();
  });
  return {
    get stores() {
      return ingest.stores;
    },
    get driver() {
      return ingest.driver;
    },
    get app() {
      if (!opened) throw new Error('the app is opened just before the first test of the file');
      return opened;
    },
  };
}
