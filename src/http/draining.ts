/**
 * The time between "stop" and the end: the process says that it is not ready, still answers, and asks clients to come back on
 * another connection. A balancer that looks at readiness has sent everything elsewhere by the time the port is closed.
 */
import type { AnyElysia } from 'elysia';
import type { Probes } from './service.ts';

export class Draining {
  #isOn = false;

  start(): void {
    this.#isOn = true;
  }

  /** Readiness: no from the start of draining. */
  readonly probes: Probes = { service: async () => !this.#isOn };

  /** Ends kept-alive connections with their next answer: one that is closed while it is idle may be in use again just then. */
  readonly mount = (app: AnyElysia): void => {
    app.onRequest(({ set }) => {
      if (this.#isOn) set.headers.connection = 'close';
    });
  };
}
