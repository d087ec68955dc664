/** A route that does nothing but answer with the bytes that the service has answered: what HTTP alone costs. */
import { Elysia } from 'elysia';
import { runLoad } from './load.ts';
import type { Latency } from './quantile.ts';
import { CONNECTIONS, type Pace } from './reads.ts';
import type { BenchService } from './service.ts';

export async function measureBare(service: BenchService, path: string, pace: Pace): Promise<Latency> {
  const response = await service.request(path);
  const bytes = await response.bytes();
  const headers = { 'content-type': 'application/json' };
  const app = new Elysia().get('/bare', () => new Response(bytes, { headers }));
  app.listen({ hostname: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${app.server?.port}`;
  try {
    return await runLoad({ kind: 'http', origin, paths: ['/bare'], callers: CONNECTIONS, isPatient: false, ...pace });
  } finally {
    await app.stop(true);
  }
}
