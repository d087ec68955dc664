/**
 * Every consumer of a queue does this around its handler: continue the trace of the upload, unpack the job, check its
 * payload, and bury among the dead letters what no retry can help.
 */
import type { Job, Worker } from 'bullmq';
import { z } from 'zod';
import { MESSAGE_BYTES_MAX } from '../src/domain/limits.ts';
import { cutText } from '../src/domain/text.ts';
import type { Logger } from '../src/observability/log.ts';
import { deadLetters as deadLettersTotal } from '../src/observability/metrics.ts';
import { inSpan } from '../src/observability/tracing.ts';
import { isRefusedData, sqlState } from '../src/postgres/client.ts';
import type { DeadLetterStore } from '../src/postgres/dead-letters.ts';
import type { QueueBackend } from '../src/queue/backend.ts';
import { type Unpacked, unpack } from '../src/queue/encoding.ts';
import type { JobKind } from '../src/queue/job-kind.ts';
import type { KeptUploads } from '../src/queue/kept/kept-uploads.ts';
import { countJobs } from './job-metrics.ts';
import { JobsInHand } from './jobs-in-hand.ts';

export interface ReceivedJob {
  id: string;
  /** From 1. */
  attempt: number;
  /** Size of the payload as JSON. */
  bytes: number;
  /** When its producer queued it; milliseconds since the epoch. */
  queuedAt: number;
}

/** The job, or a part of it, goes to the dead letters with this reason. */
export interface Buried {
  buried: string;
}

/**
 * Returns when everything in the payload is stored, except for what it names as buried. Throws if a store does not
 * respond: the queue tries again, later each time.
 */
export type Handler<S extends z.ZodType> = (payload: z.output<S>, job: ReceivedJob) => Promise<Buried | undefined>;

export interface ConsumerDeps {
  queues: QueueBackend;
  deadLetters: DeadLetterStore;
  log: Logger;
  /** Where jobs are kept for a restore; nowhere unless given. */
  kept?: Pick<KeptUploads, 'keep'> | undefined;
}

/** Starts a worker on the queue. */
export type Consumer = (deps: ConsumerDeps) => Worker;

/**
 * @example
 * const worker = consume(testRuns, testRunsHandler(handlerDeps))(deps);
 */
export const consume =
  <S extends z.ZodType>(kind: JobKind<S>, handler: Handler<S>): Consumer =>
  (deps) => {
    const worker = deps.queues.worker(
      kind.name,
      (job) => {
        const traced = { id: idOf(job), parent: job.opts.telemetry?.metadata, attempt: attemptOf(job) };
        return inSpan(`process ${kind.name}`, consumerSpan(kind, traced), () => run(deps, kind, handler, job, inHand));
      },
      kind,
    );
    const inHand = new JobsInHand(kind, worker);
    countJobs(worker, kind.name, deps.log);
    return worker;
  };

interface Traced {
  id: string;
  /** The trace is the producer's, if the job was traced there. */
  parent: string | undefined;
  attempt: number;
}

export const consumerSpan = ({ name }: JobKind, { id, parent, attempt }: Traced) =>
  ({
    kind: 'consumer',
    parent: parent ?? null,
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.destination.name': name,
      'messaging.message.id': id,
      'ci_insights.job.attempt': attempt,
    },
  }) as const;

async function run<S extends z.ZodType>(
  deps: ConsumerDeps,
  kind: JobKind<S>,
  handler: Handler<S>,
  job: Job,
  inHand: JobsInHand,
): Promise<void> {
  const received = { id: idOf(job), attempt: attemptOf(job), queuedAt: job.timestamp };
  const room = await inHand.room(job.data);
  try {
    const unpacked = unpackJob(job.data);
    if ('buried' in unpacked) return await bury(deps, kind, { id: received.id, data: job.data }, unpacked);
    const { payload, bytes } = unpacked;
    room.takes(bytes);
    const keep = () => deps.kept?.keep({ queue: kind.name, ...received, data: job.data, payload });
    if (received.attempt === 1) await keep();
    const outcome = await outcomeOf(kind, handler, payload, { ...received, bytes });
    // Again when it is stored at last: what is kept since a moment has all that was stored since then.
    if (received.attempt > 1) await keep();
    if (outcome) await bury(deps, kind, { id: received.id, data: job.data, payload }, outcome);
  } finally {
    room.leave();
  }
}

const idOf = (job: Job): string => job.id ?? 'unknown';
const attemptOf = (job: Job): number => job.attemptsMade + 1;

function unpackJob(data: unknown): Unpacked | Buried {
  try {
    return unpack(data);
  } catch (error) {
    return { buried: `the payload cannot be unpacked: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** Checks the payload and has it handled. Throws what may pass. */
export async function outcomeOf<S extends z.ZodType>(
  { name, version, schema }: JobKind<S>,
  handler: Handler<S>,
  payload: unknown,
  job: ReceivedJob,
): Promise<Buried | undefined> {
  const parsed = schema.safeParse(payload);
  if (!parsed.success)
    return { buried: `the payload is not a ${name} job of version ${version}: ${z.prettifyError(parsed.error)}` };
  try {
    return await handler(parsed.data, job);
  } catch (error) {
    // A payload that PostgreSQL refuses is refused each time; any other error is trouble that passes.
    if (!isRefusedData(error)) throw error;
    return { buried: `PostgreSQL refuses a value of the payload (SQLSTATE ${sqlState(error)})` };
  }
}

interface Letter {
  id: string;
  /** The job's data in the form in which it can be queued again. */
  data: unknown;
  /** Unpacked, if it can be. */
  payload?: unknown;
}

/** Keeps a job among the dead letters of its kind. */
export async function bury(
  { deadLetters, log }: Pick<ConsumerDeps, 'deadLetters' | 'log'>,
  kind: JobKind,
  { id, data, payload }: Letter,
  { buried }: Buried,
): Promise<void> {
  // May quote the payload.
  const reason = cutText(buried, MESSAGE_BYTES_MAX);
  await deadLetters.add(kind.name, id, kind.uploadId?.(payload) ?? null, data, reason);
  deadLettersTotal.inc({ queue: kind.name });
  log.error({ queue: kind.name, job: id, reason }, 'a job went to the dead letters');
}
