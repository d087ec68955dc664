/** How a trace gets from whoever queues a job to the worker: in the field that BullMQ keeps for it. */
import { carrier, inSpan } from '../observability/tracing.ts';

/** Part of a job's options; empty while nothing is traced. */
export function traceOptions(): { telemetry?: { metadata: string } } {
  const metadata = carrier();
  return metadata === undefined ? {} : { telemetry: { metadata } };
}

/** Queues something in a span of its own; {@link traceOptions} then names that span. */
export const enqueued = <T>(queue: string, run: () => Promise<T>): Promise<T> =>
  inSpan(
    `enqueue ${queue}`,
    { kind: 'producer', attributes: { 'messaging.system': 'bullmq', 'messaging.destination.name': queue } },
    run,
  );
