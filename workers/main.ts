/** Starts what works on the queue, and stops it so that nothing is cut off. */
import type { Deps } from '../src/deps.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { EVENTS_CHANNEL } from '../src/postgres/outbox.ts';
import type { JobName } from '../src/queue/kinds.ts';
import { prEvents } from '../src/queue/pr-events.ts';
import { testRuns } from '../src/queue/test-runs.ts';
import { Batcher } from './batcher.ts';
import { type Consumer, consume } from './consume.ts';
import { Evaluator } from './evaluator.ts';
import { prEventsHandler } from './pr-events.ts';
import { Relay } from './relay.ts';
import { RetentionTask } from './retention.ts';
import { Sweeper } from './sweeper.ts';
import { testRunsHandler } from './test-runs.ts';

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
  const { clock, log, postgres, clickhouse, background, repositories, quarantines, config } = deps;
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
  const consumers: Record<JobName, Consumer> = {
    'test-runs': consume(
      testRuns,
      testRunsHandler({ clock, repositories, batcher, retentionDays: config.retentionDays }),
    ),
    'pr-events': consume(prEvents, prEventsHandler({ clock, log, db: postgres.db, repositories })),
  };
  const workers = Object.values(consumers).map((start) => start(deps));
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
