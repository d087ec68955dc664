/** The operation that Prometheus scrapes. Public like health: it names no owner, repository, test or key. */
import type { AnyElysia } from 'elysia';
import { type Http, mount } from '../http/operation.ts';
import { METRICS_MEDIA_TYPE, type Metrics, renderMetrics } from '../observability/registry.ts';

/**
 * @param refresh reads the gauges; must not throw
 * @param others of the other processes of the service, if there are any
 */
export function mountMetrics(
  app: AnyElysia,
  http: Http,
  refresh: () => Promise<void>,
  others?: () => Promise<Metrics[]>,
): void {
  mount(app, http, 'GET', '/metrics', {
    operationId: 'getMetrics',
    tag: 'Service',
    summary: 'Metrics for Prometheus',
    description:
      'Metrics of this process and of the queues and stores behind it. If `METRICS_PORT` is set, they are on that port and not here.',
    access: 'public',
    isProbe: true,
    responses: {
      200: {
        description: 'Metrics in the text format of Prometheus.',
        mediaType: 'text/plain',
        example: 'ci_insights_executions_stored_total 46871\n',
      },
    },
    handle: async () => {
      await refresh();
      return new Response(await renderMetrics(await others?.()), { headers: { 'content-type': METRICS_MEDIA_TYPE } });
    },
  });
}
