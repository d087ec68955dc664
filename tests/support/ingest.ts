/** Drives ingestion in tests: queue, worker, evaluation, and the comparison that every such test ends with. */
import { expect } from 'bun:test';
import { verify } from '../../src/maintenance/verify.ts';
import { eventOutbox } from '../../src/postgres/schema.ts';
import { prEvents } from '../../src/queue/pr-events.ts';
import { type TestRunsJob, testRuns } from '../../src/queue/test-runs.ts';
import { type RunningWorkers, startWorkers } from '../../workers/main.ts';
import type { Relay } from '../../workers/relay.ts';
import type { TestStores } from './stores.ts';

/** Returns when no event waits in the outbox. */
export async function untilRelayed({ postgres }: TestStores, relay: Relay): Promise<void> {
  while ((await postgres.db.$count(eventOutbox)) > 0) {
    await relay.drain();
    await Bun.sleep(5);
  }
}

export class IngestDriver {
  readonly #workers: RunningWorkers;

  constructor(readonly stores: TestStores) {
    this.#workers = startWorkers(stores, { evaluationPauseMs: 0 });
  }

  /** Repositories that jobs were put in since they were last compared. */
  readonly #touched = new Map<string, TestRunsJob['repository']>();

  /** Queues the jobs and returns when everything in them can be read and is evaluated. */
  async ingest(...jobs: TestRunsJob[]): Promise<void> {
    for (const { repository } of jobs) this.#touched.set(`${repository.owner}/${repository.name}`, repository);
    await this.stores.producers.of(testRuns).addMany(jobs);
    await this.settle();
  }

  /** Returns when the queues are empty, everything stored is evaluated, and every event is in the log. */
  async settle(): Promise<void> {
    while ((await this.stores.producers.of(testRuns).depth()) > 0) await Bun.sleep(5);
    await this.#workers.evaluator.drain();
    while ((await this.stores.producers.of(prEvents).depth()) > 0) await Bun.sleep(5);
    await untilRelayed(this.stores, this.#workers.relay);
  }

  get sweeper(): RunningWorkers['sweeper'] {
    return this.#workers.sweeper;
  }

  get retention(): RunningWorkers['retention'] {
    return this.#workers.retention;
  }

  /**
   * Nothing derived may differ from the raw executions: of the repositories that were put in since the last comparison, or of
   * everything when there are none.
   */
  async verify(): Promise<void> {
    await this.settle();
    const repositories = [...this.#touched.values()];
    this.#touched.clear();
    const found = await Promise.all(repositories.map(({ owner, name }) => this.stores.repositories.find(owner, name)));
    const scopes = found.flatMap((repository) => (repository ? [repository.id] : []));
    for (const scope of scopes.length > 0 ? scopes : [undefined]) {
      const report = await verify(this.stores, scope);
      expect(report.checks.filter((check) => check.count > 0)).toEqual([]);
      expect(report.pendingBlocks).toBe(0);
    }
  }

  stop(): Promise<void> {
    return this.#workers.stop();
  }
}
