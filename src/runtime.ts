/**
 * Settings of the runtime, for every process of the service. The runtime reads them when a process begins, so setting them
 * in `process.env` changes nothing.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * For how much memory the runtime plans its garbage collection; no limit. What is in use may double before it is looked
 * through while it is less than a quarter of this, grow by a half while it is less than half of it, and by a quarter above.
 * By default this is the memory of the machine: of 16 GiB, an evaluation that uses 300 MiB would leave as much garbage.
 */
const PLANNED_BYTES = 512 * 1024 * 1024;

/**
 * The same for workers, which keep more in memory. Planned for 512 MiB, they looked through it so often that a quarter of
 * their processor time went there; planned for 1 GiB, they took 200 MiB more under load and were no faster
 * (docs/performance.md).
 */
const PLANNED_BYTES_OF_WORKERS = 768 * 1024 * 1024;

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
