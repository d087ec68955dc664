/** Starts the consumers of the queues and the loops, and stops them without cutting anything off. */
import { PullKeeper } from '../src/comments/pull-keeper.ts';
import type { Deps } from '../src/deps.ts';
import { DAY_MS } from '../src/domain/time.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { EVENTS_CHANNEL } from '../src/postgres/outbox.ts';
import type { OutboxConsumerName } from '../src/postgres/outbox-consumers.ts';
import { STORED_CHANNEL } from '../src/postgres/partitions.ts';
import { TestNamesStore } from '../src/postgres/test-names.ts';
import { importedTestRuns } from '../src/queue/imported-test-runs.ts';
import { KeptUploads } from '../src/queue/kept/kept-uploads.ts';
import type { JobName } from '../src/queue/kinds.ts';
import { largeTestRuns } from '../src/queue/large-test-runs.ts';
import { prEvents } from '../src/queue/pr-events.ts';
import { testRuns } from '../src/queue/test-runs.ts';
import { uploadBundles } from '../src/queue/upload-bundles.ts';
import { Backtester } from './backtester.ts';
import { Batchers } from './batcher.ts';
import { Commenter } from './commenter.ts';
import { type Consumer, consume } from './consume.ts';
import { Deleter } from './deleter.ts';
import { Evaluator } from './evaluator.ts';
import { Expiry } from './expiry.ts';
import { FingerprintBudget } from './fingerprint-budget.ts';
import { Keeper } from './keeper.ts';
import type { OutboxConsumer } from './outbox-consumer.ts';
import { prEventsHandler } from './pr-events.ts';
import { REFRESH_ROUNDS, Refresher } from './refresher.ts';
import { Regrouper } from './regrouper.ts';
import { Relay } from './relay.ts';
import { Renamer } from './renamer.ts';
import { Retention } from './retention.ts';
import { Sweeper } from './sweeper.ts';
import { testRunsHandler } from './test-runs.ts';
import { uploadBundlesHandler } from './upload-bundles.ts';
import { Verifier } from './verifier.ts';

export interface RunningWorkers {
  /** For tests. */
  evaluators: readonly Evaluator[];
  sweeper: Sweeper;
  retention: Retention;
  relay: Relay;
  expiry: Expiry;
  deleter: Deleter;
  /** In the order in which one leaves work to the next. */
  refreshers: readonly Refresher[];
  renamer: Renamer;
  /** Lets the current jobs and runs finish. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  /** Milliseconds between two evaluations; tests want none. */
  evaluationPauseMs?: number;
  /** See `EvaluatorDeps`. */
  evaluationEveryMs?: number;
  /** See `RefreshDeps`. */
  executionsAtOnce?: number | undefined;
  /** See `PassDeps`; by default, results of the last day, if comments are configured. */
  commentedSince?: (() => number) | undefined;
}

/** Older results, such as those of an import, are nothing to comment on. */
const COMMENTED_DAYS = 1;

export function startWorkers(
  deps: Deps,
  { evaluationPauseMs, evaluationEveryMs, executionsAtOnce, commentedSince }: WorkerOptions = {},
): RunningWorkers {
  const { clock, clockAgreement, log, clickhouse, background, repositories, quarantines, notifications } = deps;
  const { db } = deps.postgres;
  const { retentionDays, auditRetentionDays, claimDays, commentsConfig } = deps.config;
  const kept = deps.config.uploadsKept && new KeptUploads(deps, deps.config.uploadsKept);
  const isHasty = evaluationPauseMs === 0;
  const since = commentedSince ?? (commentsConfig && (() => clock.now() - COMMENTED_DAYS * DAY_MS));
  const refreshers = REFRESH_ROUNDS.map(
    (round) => new Refresher({ round, db, clickhouse: background, clock, quarantines, log, isHasty, executionsAtOnce }),
  );
  const evaluators = [false, true].map(
    (isOfImports) =>
      new Evaluator({
        ...{
          db,
          log,
          isOfImports,
          onEvaluated: () => {
            for (const { loop } of refreshers) loop.wake();
          },
          everyMs: evaluationEveryMs,
          commentedSince: since,
        },
        ...(evaluationPauseMs !== undefined && { paceMs: evaluationPauseMs }),
      }),
  );
  const evaluate = (): void => {
    for (const { loop } of evaluators) loop.wake();
  };
  const ledger = new Ledger({ db, clickhouse, clock, onStored: evaluate });
  const fingerprints = new FingerprintBudget();
  const names = new TestNamesStore(db);
  // Each track has its own blocks: a small chunk in one with large ones would wait until these are stored.
  const trackHandler = () => {
    const batchers = new Batchers(clickhouse, (chunks, shard) => ledger.write(chunks, shard));
    return testRunsHandler({ clock, repositories, names, batchers, retentionDays, fingerprints });
  };
  const storeChunk = trackHandler();
  const consumers: Record<JobName, Consumer> = {
    'test-runs': consume(testRuns, storeChunk),
    'large-test-runs': consume(largeTestRuns, trackHandler()),
    'imported-test-runs': consume(importedTestRuns, trackHandler()),
    'upload-bundles': consume(uploadBundles, uploadBundlesHandler(deps, storeChunk)),
    'pr-events': consume(
      prEvents,
      prEventsHandler({ clock, log, db, repositories, retentionDays, commentedSince: since }),
    ),
  };
  const workers = Object.values(consumers).map((start) => start({ ...deps, kept }));
  const takeJobs = (isAgreed: boolean): void => {
    for (const worker of workers) isAgreed ? worker.resume() : void worker.pause();
  };
  if (!clockAgreement.isAgreed) takeJobs(false);
  clockAgreement.onChange(takeJobs);
  const sweeper = new Sweeper({ db, clickhouse, ledger, log });
  const retention = new Retention({
    ...{
      clickhouse: background,
      db,
      quarantines,
      clock,
      clockAgreement,
      retentionDays,
      auditRetentionDays,
      claimDays,
      kept,
      log,
    },
  });
  const relay = new Relay({ db, clickhouse, log });
  const ofOutbox: Record<OutboxConsumerName, OutboxConsumer> = { relay };
  const expiry = new Expiry({ db, log });
  const regrouper = new Regrouper({ clickhouse: background, postgres: deps.postgres, quarantines, clock, log });
  const renamer = new Renamer({ clickhouse: background, postgres: deps.postgres, quarantines, clock, log });
  const verifier = new Verifier({ ...deps, clickhouse: background });
  const deleter = new Deleter({ clickhouse: background, postgres: deps.postgres, quarantines, clock, log });
  const backtester = new Backtester({ db, clickhouse: background, clock, log });
  const keeper = commentsConfig && new PullKeeper({ ...deps, db, clickhouse: background }, commentsConfig);
  const commenters = keeper ? [new Commenter({ db, log, repositories, keeper })] : [];
  clockAgreement.onChange(retention.loop.wake);
  for (const { loop } of Object.values(ofOutbox))
    notifications.listen(EVENTS_CHANNEL, { onNotify: loop.wake, onConnect: loop.wake });
  notifications.listen(STORED_CHANNEL, { onNotify: evaluate, onConnect: evaluate });
  const others = [
    ...[sweeper, retention, expiry, deleter, ...refreshers, regrouper, renamer, verifier, backtester, ...evaluators],
    ...commenters,
    ...(kept ? [new Keeper({ kept, log })] : []),
  ];
  const loops = [...Object.values(ofOutbox), ...others].map(({ loop }) => loop);
  for (const loop of loops) loop.wake();
  return {
    evaluators,
    sweeper,
    retention,
    relay,
    expiry,
    deleter,
    refreshers,
    renamer,
    stop: async () => {
      await Promise.all([...workers.map((worker) => worker.close()), ...loops.map((loop) => loop.stop())]);
      await kept?.close();
    },
  };
}
