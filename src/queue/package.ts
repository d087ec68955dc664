/**
 * Exports of `ci-insights/producer`: for TypeScript programs that put jobs straight into the queue.
 *
 * @example
 * const queues = await openRedisQueues('redis://127.0.0.1:6379', console.error);
 * const runs = new TestRunsProducer(queues);
 * await runs.add([testRunsSchema.parse(upload)]);
 * const events = new PrEventsProducer(queues);
 * await events.add('deploy-42', {
 *   v: 1,
 *   repository: { host: 'github.com', owner: 'acme', name: 'shop' },
 *   events: [{ key: 'deploy-42', type: 'queue.pause.create', trigger: '@octocat', metadata: { reason: 'release' } }],
 * });
 */
import type { z } from 'zod';
import type { QueueBackend } from './backend.ts';
import { importedTestRuns } from './imported-test-runs.ts';
import { isLarge, largeTestRuns } from './large-test-runs.ts';
import { packPlain } from './packed-job.ts';
import { prEvents, prEventsJobId, type prEventsSchema } from './pr-events.ts';
import { Producer } from './producer.ts';
import { testRuns, type testRunsSchema } from './test-runs.ts';

export { openPostgresQueues, openRedisQueues, type QueueBackend } from './backend.ts';
export { JOB_EVENTS_MAX, type PrEventsJob, prEventsSchema } from './pr-events.ts';
export { CHUNK_EXECUTIONS_MAX, type TestRunsJob, testRunsSchema } from './test-runs.ts';

export class TestRunsProducer {
  readonly #small: Producer<typeof testRunsSchema>;
  readonly #large: Producer<typeof testRunsSchema>;
  readonly #imported: Producer<typeof testRunsSchema>;

  constructor(queues: QueueBackend) {
    this.#small = new Producer(queues, testRuns);
    this.#large = new Producer(queues, largeTestRuns);
    this.#imported = new Producer(queues, importedTestRuns);
  }

  /** Returns once the queue holds every job; throws when it cannot be reached. */
  async add(jobs: readonly z.input<typeof testRunsSchema>[]): Promise<void> {
    const byTrack = Map.groupBy(
      jobs.map((job) => ({ id: testRuns.id(job), json: JSON.stringify(job), isImported: Boolean(job.arrived_at) })),
      ({ json, isImported }) => (isImported ? this.#imported : isLarge(json.length) ? this.#large : this.#small),
    );
    await Promise.all([...byTrack].map(([track, plain]) => track.addPacked(plain.map(packPlain))));
  }

  /** Jobs that are waiting, delayed or being worked on. */
  async depth(): Promise<number> {
    const depths = await Promise.all(this.#tracks.map((track) => track.depth()));
    return depths.reduce((sum, depth) => sum + depth, 0);
  }

  async close(): Promise<void> {
    await Promise.all(this.#tracks.map((track) => track.close()));
  }

  get #tracks(): readonly Producer<typeof testRunsSchema>[] {
    return [this.#small, this.#large, this.#imported];
  }
}

export class PrEventsProducer {
  readonly #producer: Producer<typeof prEventsSchema>;

  constructor(queues: QueueBackend) {
    this.#producer = new Producer(queues, prEvents);
  }

  /**
   * Returns once the queue holds the job; throws when it cannot be reached.
   *
   * @param id names the job at its source: added twice while it is queued, it is one job
   */
  add(id: string, job: z.input<typeof prEventsSchema>): Promise<void> {
    return this.#producer.add(job, prEventsJobId(id));
  }

  /** Jobs that are waiting, delayed or being worked on. */
  depth(): Promise<number> {
    return this.#producer.depth();
  }

  close(): Promise<void> {
    return this.#producer.close();
  }
}
