/**
 * The time between the start of a process and its readiness. Migrations may take hours, in this process or in another that
 * it waits for: it is alive meanwhile, and not ready. So nothing restarts it, and nothing is sent to it.
 */
import { buildApp, listenAt } from '../app.ts';
import { systemClock } from '../clock.ts';
import type { Config } from '../config.ts';
import type { StartStep } from '../deps.ts';
import type { Logger } from '../observability/log.ts';
import { mountHealth } from './health.ts';

const STEPS: Record<StartStep, string> = {
  postgres: 'The process starts: it migrates PostgreSQL, or waits for another one that does.',
  queue: 'The process starts: it opens the queue.',
  clickhouse: 'The process starts: it migrates ClickHouse.',
  parts: 'The process starts: its stores are open.',
};
/** A start that takes longer is told in the log. */
const TOLD_AFTER_MS = 10_000;

export interface Starting {
  /** The step that the process is at. */
  step(step: StartStep): void;
  /** Frees the port. */
  stop(): Promise<void>;
}

/**
 * Answers probes on METRICS_PORT from now on. Without that port nothing answers until the process is ready: the port of the
 * API may be that of another process, whose clients would get these answers.
 */
export function startStarting(config: Config, log: Logger): Starting {
  let sentence = STEPS.postgres;
  const app = config.metricsPort ? healthAt(config.metricsPort, config, log, () => sentence) : undefined;
  const tell = (): void => log.info(sentence);
  let timer = setTimeout(tell, TOLD_AFTER_MS);
  return {
    step: (step) => {
      sentence = STEPS[step];
      clearTimeout(timer);
      timer = setTimeout(tell, TOLD_AFTER_MS);
    },
    stop: async () => {
      clearTimeout(timer);
      // Connections that are kept alive would hold the port.
      await app?.stop(true);
    },
  };
}

function healthAt(port: number, config: Config, log: Logger, starting: () => string) {
  const isStoring = async () => true;
  const app = buildApp({
    ...{ clock: systemClock, log, publicUrl: undefined, credentials: [] },
    features: [(on, http) => mountHealth(on, http, { probes: {}, isStoring, mustStore: false, starting })],
  });
  listenAt(app, { hostname: config.host, port, reusePort: false }, 'METRICS_PORT');
  return app;
}
