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
 * On the threads of the runtime, the embedded ClickHouse runs its statements. By default they are as many as cores: two long
 * statements would hold up all others.
 */
const THREADS = 12;

/** What a process needs that computes and opens nothing. */
export const memorySettings = ({ BUN_JSC_forceRAMSize }: Environment = process.env) => ({
  BUN_JSC_forceRAMSize: BUN_JSC_forceRAMSize || String(PLANNED_BYTES),
});

/** The environment in which this process would have all settings; undefined if it has each of them, whatever its value. */
export function environmentWithSettings(environment: Environment = process.env): Environment | undefined {
  const { BUN_JSC_forceRAMSize, UV_THREADPOOL_SIZE } = environment;
  if (BUN_JSC_forceRAMSize && UV_THREADPOOL_SIZE) return undefined;
  return {
    ...environment,
    ...memorySettings(environment),
    UV_THREADPOOL_SIZE: UV_THREADPOOL_SIZE || String(THREADS),
  };
}
