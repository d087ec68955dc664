/**
 * Sends again what was kept, through the same handlers as when it arrived: what is stored already counts nothing. So a restore
 * that lost something has it afterwards, in whatever state it was. It may be repeated, and beside it workers may work.
 */
import type { Deps } from '../src/deps.ts';
import { HOUR_MS, MINUTE_MS } from '../src/domain/time.ts';
import { UserError } from '../src/errors.ts';
import { evaluatePartition } from '../src/evaluation/pass.ts';
import { Ledger } from '../src/ledger/ledger.ts';
import { executionsStored } from '../src/observability/metrics.ts';
import { TestNamesStore } from '../src/postgres/test-names.ts';
import { importedTestRuns } from '../src/queue/imported-test-runs.ts';
import { type KeptJob, type Part, partsOfKept, readLine } from '../src/queue/kept/kept-job.ts';
import { KeptUploads } from '../src/queue/kept/kept-uploads.ts';
import { beganAt } from '../src/queue/kept/segments.ts';
import { largeTestRuns } from '../src/queue/large-test-runs.ts';
import { prEvents } from '../src/queue/pr-events.ts';
import { testRuns } from '../src/queue/test-runs.ts';
import { Batchers } from './batcher.ts';
import { type Buried, bury, type Handler, outcomeOf, type ReceivedJob } from './consume.ts';
import { FingerprintBudget } from './fingerprint-budget.ts';
import { BYTES_MAX } from './jobs-in-hand.ts';
import { currentPaths } from './moved-repositories.ts';
import { prEventsHandler } from './pr-events.ts';
import { testRunsHandler } from './test-runs.ts';

/** Lines in hand at a time, and how much larger than its line a job is. */
const LINES_MAX = 256;
const EXPANSION = 6;
/** A job is stored a while after it was kept, and clocks differ. */
const SLACK_MS = HOUR_MS;

type ResendDeps = Pick<
  Deps,
  'clock' | 'log' | 'postgres' | 'clickhouse' | 'repositories' | 'producers' | 'deadLetters' | 'config'
>;

/** The receipt: how many kept jobs were stored, and what became of the others. */
export interface Resent {
  /** Chunks of uploads, and jobs of events. */
  chunks: number;
  eventJobs: number;
  /** Executions in these chunks, and how many of them were stored now. The others were there, or are past retention. */
  sent: number;
  stored: number;
  /** Chunks and jobs of repositories that were deleted since they arrived. */
  gone: number;
  /** Chunks and jobs that went to the dead letters, now as then or because the rules have changed. */
  buried: number;
  /** Chunks that wait in the queue now, for a worker to try again. */
  requeued: number;
  /** Lines that cannot be read: a power loss cut them off. */
  unreadable: number;
}

/**
 * Throws a {@link UserError} if nothing is kept.
 *
 * @param since milliseconds since the epoch
 * @param onMinute called when everything that was kept up to a moment is done
 */
export async function resendKept(
  deps: ResendDeps,
  since: number,
  onMinute: (until: number, resent: Resent) => void = () => {},
): Promise<Resent> {
  const { uploadsKept } = deps.config;
  if (!uploadsKept) throw new UserError('Nothing is kept: UPLOADS_KEPT_DAYS is not set.');
  const kept = new KeptUploads(deps, uploadsKept);
  const resender = await Resender.open(deps);
  const segments = await kept.segments(since - SLACK_MS);
  for (const [began, names] of Map.groupBy(segments, (name) => beganAt(name) ?? 0)) {
    for (const name of names) await resender.chunksOf(await kept.lines(name));
    await resender.events();
    while ((await evaluatePartition({ db: deps.postgres.db, log: deps.log }, 0)) !== undefined);
    onMinute(began + MINUTE_MS, await resender.counts());
  }
  return resender.counts();
}

type Named = { repository: { owner: string; name: string } };

class Resender {
  readonly #counts: Resent = {
    ...{ chunks: 0, eventJobs: 0, sent: 0, stored: 0 },
    ...{ gone: 0, buried: 0, requeued: 0, unreadable: 0 },
  };
  /** Events wait until all of a minute are here: several workers kept them, and they count in their order. */
  #events: KeptJob[] = [];
  readonly #handlers: Record<string, (part: Part, job: ReceivedJob) => Promise<Buried | undefined>>;

  private constructor(
    private readonly deps: ResendDeps,
    private readonly pathAt: Awaited<ReturnType<typeof currentPaths>>,
    private readonly storedBefore: number,
  ) {
    const { clock, log, clickhouse, repositories } = deps;
    const { db } = deps.postgres;
    const ledger = new Ledger({ db, clickhouse, clock });
    const received = { clock, repositories, retentionDays: deps.config.retentionDays };
    const shared = {
      ...received,
      ...{ names: new TestNamesStore(db), fingerprints: new FingerprintBudget() },
    };
    const track = (): Handler<typeof testRuns.schema> => {
      const batchers = new Batchers(clickhouse, (chunks, shard) => ledger.write(chunks, shard));
      const handle = testRunsHandler({ ...shared, batchers });
      const counted: typeof handle = (payload, job) => {
        this.#counts.sent += payload.executions.name.length;
        return handle(payload, job);
      };
      return this.#unlessGone(counted, ({ received_at: at }) => Date.parse(at));
    };
    const [small, large, imported] = [track(), track(), track()];
    const events = this.#unlessGone(prEventsHandler({ log, db, ...received }), (_, { queuedAt }) => queuedAt);
    this.#handlers = {
      [testRuns.name]: ({ payload }, job) => outcomeOf(testRuns, small, payload, job),
      [largeTestRuns.name]: ({ payload }, job) => outcomeOf(largeTestRuns, large, payload, job),
      [importedTestRuns.name]: ({ payload }, job) => outcomeOf(importedTestRuns, imported, payload, job),
      [prEvents.name]: ({ payload }, job) => outcomeOf(prEvents, events, payload, job),
    };
  }

  static async open(deps: ResendDeps): Promise<Resender> {
    return new Resender(deps, await currentPaths(deps.postgres.db), await storedByNow());
  }

  async counts(): Promise<Resent> {
    return { ...this.#counts, stored: (await storedByNow()) - this.storedBefore };
  }

  /** Sends the chunks of a segment, and sets its events aside. */
  async chunksOf(lines: readonly string[]): Promise<void> {
    let batch: Promise<void>[] = [];
    let bytes = 0;
    for (const line of lines) {
      const job = readLine(line);
      if (!job) this.#counts.unreadable++;
      else if (job.queue === prEvents.name) this.#events.push(job);
      else {
        batch.push(this.#send(job));
        bytes += line.length * EXPANSION;
      }
      if (batch.length < LINES_MAX && bytes < BYTES_MAX) continue;
      await Promise.all(batch);
      batch = [];
      bytes = 0;
    }
    await Promise.all(batch);
  }

  /** Sends the events that were set aside, one job after the other. */
  async events(): Promise<void> {
    const events = this.#events.sort((a, b) => a.kept_at - b.kept_at);
    this.#events = [];
    for (const job of events) await this.#send(job);
  }

  async #send(job: KeptJob): Promise<void> {
    const parts = partsOfKept(job);
    await Promise.all(parts.map((part) => this.#sendPart(job, part)));
  }

  async #sendPart({ queued_at: queuedAt }: KeptJob, part: Part): Promise<void> {
    const handle = this.#handlers[part.queue];
    if (!handle) {
      this.#counts.unreadable++;
      return;
    }
    if (part.queue === prEvents.name) this.#counts.eventJobs++;
    else this.#counts.chunks++;
    const { producers, deadLetters, log } = this.deps;
    const kind = producers.ofQueue(part.queue)?.kind;
    try {
      const received = { id: part.id, attempt: 1, queuedAt, bytes: JSON.stringify(part.payload).length };
      const outcome = await handle(part, received);
      if (!outcome || !kind) return;
      this.#counts.buried++;
      await bury({ deadLetters, log }, kind, { id: part.id, data: part.payload, payload: part.payload }, outcome);
    } catch (error) {
      // Events have an order, so the command ends instead. A chunk has none: its tests may be being renamed, for instance.
      if (part.queue === prEvents.name) throw error;
      await producers.ofQueue(part.queue)?.addAgain(part.id, part.payload);
      this.#counts.requeued++;
    }
  }

  /** At the path that the repository has today, and not at all if it was deleted since. */
  #unlessGone<P extends Named>(
    handle: (payload: P, job: ReceivedJob) => Promise<Buried | undefined>,
    acceptedAt: (payload: P, job: ReceivedJob) => number,
  ): (payload: P, job: ReceivedJob) => Promise<Buried | undefined> {
    return async (payload, job) => {
      const accepted = acceptedAt(payload, job);
      const path = this.pathAt(payload.repository, accepted);
      const moved = { ...payload, repository: { ...payload.repository, ...path } };
      if (!(await this.deps.repositories.wasDeletedSince(moved.repository, accepted))) return handle(moved, job);
      this.#counts.gone++;
      return undefined;
    };
  }
}

async function storedByNow(): Promise<number> {
  return (await executionsStored.get()).values[0]?.value ?? 0;
}
