/** The operation that Prometheus scrapes. Public like health: it names no owner, repository, test or key. */
import type { AnyElysia } from 'elysia';
import { type Http, mount } from '../http/operation.ts';
import { PackedText } from '../http/packed-text.ts';
import { METRICS_MEDIA_TYPE, type Metrics, renderMetrics } from '../observability/registry.ts';

/** How old the text may be: anyone may ask for it, and making it takes tens of milliseconds. */
const TEXT_MS = 1_000;

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
  let made: Promise<PackedText> | undefined;
  let madeAt = Number.NEGATIVE_INFINITY;
  const make = async (): Promise<PackedText> => {
    await refresh();
    return new PackedText(await renderMetrics(await others?.()), { 'content-type': METRICS_MEDIA_TYPE });
  };
  const current = (): Promise<PackedText> => {
    if (made && performance.now() - madeAt < TEXT_MS) return made;
    madeAt = performance.now();
    made = make().catch((error) => {
      made = undefined;
      throw error;
    });
    return made;
  };

  mount(app, http, 'GET', '/metrics', {
    operationId: 'getMetrics',
    tag: 'Service',
    summary: 'Metrics for Prometheus',
    description:
      'Metrics of this process and of the queues and stores behind it, as of the last second. If `METRICS_PORT` is set, they are on that port and not here.',
    access: 'public',
    isProbe: true,
    responses: {
      200: {
        description: 'Metrics in the text format of Prometheus.',
        mediaType: 'text/plain',
        example: 'ci_insights_executions_stored_total 46871\n',
      },
    },
    handle: async ({ request }) => (await current()).answer(request),
  });
}
