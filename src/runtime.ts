/**
 * Settings of the runtime, for every process of the service. The runtime reads them when a process begins, so setting them
 * in `process.env` changes nothing.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * For how much memory the runtime plans its garbage collection; no limit. While the whole process takes less than 80 % of
 * it, what is in use may double before it is looked through; above 90 %, it may grow by a quarter only, and is looked
 * through as a whole every second time. By default this is the memory of the machine: of 16 GiB, an evaluation that uses
 * 300 MiB would leave as much garbage.
 */
const PLANNED_BYTES = 512 * 1024 * 1024;

/**
 * The same for workers. The embedded ClickHouse is part of their process: planned for 768 MiB, they were above 90 % as
 * soon as something arrived, and stood still for a fifth of the time. Planned for 1,152 MiB, the service takes more than
 * 1.5 GB under many uploads at once (docs/performance.md).
 */
const PLANNED_BYTES_OF_WORKERS = 1_024 * 1024 * 1024;

/**
 * On the threads of the runtime, the embedded ClickHouse runs its statements. By default they are as many as cores: two long
 * statements would hold up all others.
 */
const THREADS = 12;

/**
 * What a process needs that evaluates nothing: the API and the parsers. A value that the operator sets applies to them as
 * well, unless it is that of workers, which the process that starts them has given itself.
 */
export const memorySettings = ({ BUN_JSC_forceRAMSize: given }: Environment = process.env) => ({
  BUN_JSC_forceRAMSize: given && given !== String(PLANNED_BYTES_OF_WORKERS) ? given : String(PLANNED_BYTES),
});

/** The environment of the API, which a process with workers starts. */
export const apiEnvironment = (environment: Environment = process.env): Environment => ({
  ...environment,
  ...memorySettings(environment),
});

/**
 * The environment in which this process would have all settings; undefined if it has each of them, whatever its value.
 *
 * @param hasWorkers whether it evaluates
 */
export function environmentWithSettings(
  hasWorkers: boolean,
  environment: Environment = process.env,
): Environment | undefined {
  const { BUN_JSC_forceRAMSize, UV_THREADPOOL_SIZE } = environment;
  if (BUN_JSC_forceRAMSize && UV_THREADPOOL_SIZE) return undefined;
  const planned = hasWorkers ? PLANNED_BYTES_OF_WORKERS : PLANNED_BYTES;
  return {
    ...environment,
    BUN_JSC_forceRAMSize: BUN_JSC_forceRAMSize || String(planned),
    UV_THREADPOOL_SIZE: UV_THREADPOOL_SIZE || String(THREADS),
  };
}
