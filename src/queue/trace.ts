/** Carries a trace from the producer of a job to its worker, in the field that BullMQ has for this. */
import { carrier, inSpan } from '../observability/tracing.ts';

/** Part of a job's options; empty without tracing. */
export function traceOptions(): { telemetry?: { metadata: string } } {
  const metadata = carrier();
  return metadata === undefined ? {} : { telemetry: { metadata } };
}

/** Enqueues in a separate span, which {@link traceOptions} then names. */
export const enqueued = <T>(queue: string, run: () => Promise<T>): Promise<T> =>
  inSpan(
    `enqueue ${queue}`,
    { kind: 'producer', attributes: { 'messaging.system': 'bullmq', 'messaging.destination.name': queue } },
    run,
  );
