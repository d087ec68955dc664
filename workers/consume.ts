/**
 * What every consumer of a queue does around its handler: continue the trace of the upload, unpack the job, check its
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
import { countJobs } from './job-metrics.ts';

interface ReceivedJob {
  id: string;
  /** Size of the payload as JSON. */
  bytes: number;
}

/** The job, or a part of it, goes to the dead letters with this reason. */
interface Buried {
  buried: string;
}

/**
 * Returns when everything in the payload is stored, except for what it names as buried. Throws if a store does not
 * respond: the queue tries again, later each time.
 */
export type Handler<S extends z.ZodType> = (payload: z.output<S>, job: ReceivedJob) => Promise<Buried | undefined>;

interface ConsumerDeps {
  queues: QueueBackend;
  deadLetters: DeadLetterStore;
  log: Logger;
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
      (job) => inSpan(`process ${kind.name}`, spanOf(kind, job), () => run(deps, kind, handler, job, hold)),
      kind,
    );
    const hold = holderOf(kind, worker);
    countJobs(worker, kind.name, deps.log);
    return worker;
  };

/** Unpacked jobs of up to so many bytes are small together. */
const SMALL_BYTES_MAX = 8 * 1024 * 1024;

/** Lets the worker hold more jobs while they are small. Call it with the bytes of a job, and the result at its end. */
function holderOf({ concurrency, concurrencySmall }: JobKind, worker: Worker) {
  let held = 0;
  const change = (bytes: number): void => {
    held += bytes;
    if (concurrencySmall !== undefined) worker.concurrency = held > SMALL_BYTES_MAX ? concurrency : concurrencySmall;
  };
  return (bytes: number): (() => void) => {
    change(bytes);
    return () => change(-bytes);
  };
}

/** The trace is the producer's, if the job was traced there. */
const spanOf = ({ name }: JobKind, job: Job) =>
  ({
    kind: 'consumer',
    parent: job.opts.telemetry?.metadata ?? null,
    attributes: {
      'messaging.system': 'bullmq',
      'messaging.destination.name': name,
      'messaging.message.id': job.id ?? 'unknown',
      'ci_insights.job.attempt': job.attemptsMade + 1,
    },
  }) as const;

async function run<S extends z.ZodType>(
  { deadLetters, log }: ConsumerDeps,
  kind: JobKind<S>,
  handler: Handler<S>,
  job: Job,
  hold: (bytes: number) => () => void,
): Promise<void> {
  const id = job.id ?? 'unknown';
  const read = readJob(kind, job.data);
  const release = hold('buried' in read ? 0 : read.bytes);
  const outcome =
    'buried' in read ? read : await handled(handler(read.payload, { id, bytes: read.bytes })).finally(release);
  if (outcome === undefined) return;
  // May quote the payload.
  const reason = cutText(outcome.buried, MESSAGE_BYTES_MAX);
  await deadLetters.add(kind.name, id, kind.uploadId?.(read.unchecked) ?? null, job.data, reason);
  deadLettersTotal.inc({ queue: kind.name });
  log.error({ queue: kind.name, job: id, reason }, 'a job went to the dead letters');
}

/** A payload that PostgreSQL refuses is refused each time; any other error is trouble that passes. */
async function handled(result: Promise<Buried | undefined>): Promise<Buried | undefined> {
  try {
    return await result;
  } catch (error) {
    if (!isRefusedData(error)) throw error;
    return { buried: `PostgreSQL refuses a value of the payload (SQLSTATE ${sqlState(error)})` };
  }
}

type ReadJob<S extends z.ZodType> = { unchecked?: unknown } & (Buried | { payload: z.output<S>; bytes: number });

function readJob<S extends z.ZodType>({ name, version, schema }: JobKind<S>, data: unknown): ReadJob<S> {
  let unpacked: Unpacked;
  try {
    unpacked = unpack(data);
  } catch (error) {
    return { buried: `the payload cannot be unpacked: ${error instanceof Error ? error.message : String(error)}` };
  }
  const { payload: unchecked, bytes } = unpacked;
  const parsed = schema.safeParse(unchecked);
  if (parsed.success) return { unchecked, payload: parsed.data, bytes };
  return {
    unchecked,
    buried: `the payload is not a ${name} job of version ${version}: ${z.prettifyError(parsed.error)}`,
  };
}
