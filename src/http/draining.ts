/**
 * The time between "stop" and the end: the process says that it is not ready, still answers, and asks clients to come back on
 * another connection. A balancer that looks at readiness has sent everything elsewhere by the time the port is closed.
 */
import type { AnyElysia } from 'elysia';
import type { Probes } from '../probes.ts';

export class Draining {
  #isOn = false;

  /** @param app undefined for a process that only works */
  start(app: AnyElysia | undefined): void {
    this.#isOn = true;
    if (app) endConnections(app);
  }

  /** Readiness: no from the start of draining. */
  readonly probes: Probes = { service: async () => !this.#isOn };
}

/**
 * Ends kept-alive connections with their next answer: one that is closed while it is idle may be in use again just then. Requests are
 * served differently from now on, so that until now none of them had to ask.
 */
function endConnections(app: AnyElysia): void {
  app.server?.reload({
    routes: {},
    fetch: async (request) => {
      const response = await app.handle(request);
      response.headers.set('connection', 'close');
      return response;
    },
  });
}
