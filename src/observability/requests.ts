/** Metrics of every request, and a log line for those worth one. */
import type { Logger } from './log.ts';
import { inFlight, requestSeconds } from './metrics.ts';
import { traceId } from './tracing.ts';

/** A read that takes longer is worth a line even if it succeeded. */
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
  /** Whether it changes something although it is a GET. */
  isWrite?: boolean | undefined;
}

/** Who sent a request, as its log line names them. */
export interface RequestActor {
  actor: string;
  key_id?: string | undefined;
  session_id?: string | undefined;
  subject?: string | undefined;
}

const actors = new WeakMap<Request, RequestActor>();

/** Says who sends a request, once that is known. */
export const noteActor = (request: Request, actor: RequestActor): void => void actors.set(request, actor);

/**
 * Begins to measure a request. Call the result with the response, exactly once: it logs what changes something, what was refused and
 * what was slow at `info`, every other read at `debug`, because the log of a service that every CI job asks would hold little else.
 */
export function startRequest(log: Logger, served: ServedRequest): (response: Response) => Response {
  const startedAt = performance.now();
  inFlight.requests++;
  return (response) => {
    inFlight.requests--;
    report(log, served, response.status, performance.now() - startedAt);
    return response;
  };
}

function report(
  log: Logger,
  { route, operation, request, requestId, isWrite = false }: ServedRequest,
  status: number,
  durationMs: number,
): void {
  const { method } = request;
  requestSeconds.observe(
    { route, method, status: STATUS_CLASSES[Math.floor(status / 100)] ?? '5xx' },
    durationMs / 1_000,
  );
  const isRead = method === 'GET' || method === 'HEAD';
  const level = !isRead || isWrite || status >= 400 || durationMs >= SLOW_MS ? 'info' : 'debug';
  if (log.isLevelEnabled(level))
    log[level](
      {
        request_id: requestId,
        trace_id: traceId(),
        operation,
        method,
        path: new URL(request.url).pathname.slice(0, PATH_LENGTH_MAX),
        status,
        ...actors.get(request),
        duration_ms: Math.round(durationMs * 1_000) / 1_000,
      },
      'request',
    );
}
