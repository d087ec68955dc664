/** Starts what works on the queue, and stops it so that nothing is cut off. */
import type { Deps } from '../src/deps.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { EVENTS_CHANNEL } from '../src/postgres/outbox.ts';
import { prEvents, testRuns } from '../src/queue/catalogue.ts';
import { Batcher } from './batcher.ts';
import { Evaluator } from './evaluator.ts';
import { countJobs, traced } from './observed.ts';
import { prEventsHandler } from './pr-events.ts';
import { Relay } from './relay.ts';
import { RetentionTask } from './retention.ts';
import { Sweeper } from './sweeper.ts';
import { testRunsHandler } from './test-runs.ts';

/** Jobs held at a time: enough small ones to fill blocks, few enough large ones to fit in memory. */
const CONCURRENCY = 32;
/** Events of one repository are written one transaction after another, so more would wait for each other. */
const PR_EVENTS_CONCURRENCY = 8;

export interface RunningWorkers {
  /** For tests: returns when everything stored is evaluated. */
  evaluator: Evaluator;
  sweeper: Sweeper;
  retention: RetentionTask;
  relay: Relay;
  /** Lets the jobs in hand finish, then stops. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  /** Milliseconds between two evaluations; tests want none. */
  evaluationPauseMs?: number;
}

export function startWorkers(deps: Deps, options: WorkerOptions = {}): RunningWorkers {
  const { clock, log, postgres, clickhouse, background, repositories, deadLetters, quarantines, queues, config } = deps;
  const ledger = new Ledger(postgres.db, clickhouse, clock, (block) => evaluator.add(block));
  const evaluator: Evaluator = new Evaluator(
    postgres.db,
    background,
    ledger,
    quarantines,
    log,
    options.evaluationPauseMs,
  );
  const sweeper = new Sweeper(ledger, evaluator, log);
  const retention = new RetentionTask(background, postgres.db, clock, config.retentionDays, log);
  const batcher = new Batcher((chunks) => ledger.write(chunks));
  const handler = testRunsHandler({
    clock,
    log,
    repositories,
    deadLetters,
    batcher,
    retentionDays: config.retentionDays,
  });
  const eventsHandler = prEventsHandler({ clock, log, db: postgres.db, repositories, deadLetters });
  const workers = [
    { queue: testRuns.name, handle: handler, concurrency: CONCURRENCY },
    { queue: prEvents.name, handle: eventsHandler, concurrency: PR_EVENTS_CONCURRENCY },
  ].map(({ queue, handle, concurrency }) => {
    const worker = queues.worker(queue, traced(queue, handle), concurrency);
    countJobs(worker, queue, log);
    return worker;
  });
  const relay = new Relay(postgres.db, clickhouse, log);
  deps.notifications.listen(EVENTS_CHANNEL, { onNotify: relay.wake, onConnect: relay.wake });
  relay.start();
  sweeper.start();
  retention.start();
  return {
    evaluator,
    sweeper,
    retention,
    relay,
    stop: async () => {
      await Promise.all(workers.map((worker) => worker.close()));
      await relay.stop();
      await sweeper.stop();
      await retention.stop();
      await evaluator.stop();
    },
  };
}
