/**
 * The time between "stop" and the end: the process reports not ready, still answers, and asks clients to come back on
 * another connection. A balancer that watches readiness sends everything elsewhere by the time the port is closed.
 */
import type { AnyElysia } from 'elysia';
import type { Probes } from '../probes.ts';

export class Draining {
  #isOn = false;

  /** @param app undefined for a process without an API */
  start(app: AnyElysia | undefined): void {
    this.#isOn = true;
    if (app) endConnections(app);
  }

  /** Not ready from the start of draining. */
  readonly probes: Probes = { service: async () => !this.#isOn };
}

/**
 * Ends kept-alive connections with their next answer: one that is closed while idle may be in use again at that moment.
 * The way requests are served changes here, so that before draining no request has to check.
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
