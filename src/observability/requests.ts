/** What is told of a request: a measurement of each, and a log line of those worth one. */
import { andThen, type MaybePromise } from '../maybe-promise.ts';
import type { Logger } from './log.ts';
import { inFlight, requestSeconds } from './metrics.ts';
import { traceId } from './tracing.ts';

/** A read that takes longer is worth a line although it went well. */
const SLOW_MS = 1_000;
/** Paths hold a repository's name and ids; longer ones are cut. */
const PATH_LENGTH_MAX = 300;
const STATUS_CLASSES = ['1xx', '1xx', '2xx', '3xx', '4xx', '5xx'];

export interface ServedRequest {
  /** The route's pattern, never the path itself. */
  route: string;
  operation: string;
  request: Request;
  requestId: string;
}

/**
 * Measures a request and logs it: what changes something, what was refused and what was slow at `info`, every other read at
 * `debug`, because a service that is asked by every CI job would write of little else.
 *
 * @param serve answers whatever happens: it neither throws nor rejects
 */
export function observeRequest(
  log: Logger,
  served: ServedRequest,
  serve: () => MaybePromise<Response>,
): MaybePromise<Response> {
  const startedAt = performance.now();
  inFlight.requests++;
  return andThen(serve(), (response) => {
    inFlight.requests--;
    tell(log, served, response.status, performance.now() - startedAt);
    return response;
  });
}

function tell(
  log: Logger,
  { route, operation, request, requestId }: ServedRequest,
  status: number,
  durationMs: number,
): void {
  const { method } = request;
  requestSeconds.observe(
    { route, method, status: STATUS_CLASSES[Math.floor(status / 100)] ?? '5xx' },
    durationMs / 1_000,
  );
  const isRead = method === 'GET' || method === 'HEAD';
  const level = !isRead || status >= 400 || durationMs >= SLOW_MS ? 'info' : 'debug';
  if (log.isLevelEnabled(level))
    log[level](
      {
        request_id: requestId,
        trace_id: traceId(),
        operation,
        method,
        path: new URL(request.url).pathname.slice(0, PATH_LENGTH_MAX),
        status,
        duration_ms: Math.round(durationMs * 1_000) / 1_000,
      },
      'request',
    );
}
