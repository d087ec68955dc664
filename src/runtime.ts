/**
 * Settings of the runtime, for every process of the service. The runtime reads them when a process begins, so setting them
 * in `process.env` changes nothing.
 */

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * For how much memory the runtime of a process plans its garbage collection, in MiB; no limit. While the whole process
 * takes less than 80 % of it, what is in use may double before it is looked through; above 90 %, it may grow by a quarter
 * only, and is looked through as a whole every second time. By default this is the memory of the machine: of 16 GiB, an
 * evaluation that uses 300 MiB would leave as much garbage.
 */
const PLANNED_MIB = {
  /** The process with the embedded ClickHouse, whose memory counts as well. It has few objects to look through. */
  engine: 512,
  workers: 576,
  api: 512,
} as const;

export type ProcessKind = keyof typeof PLANNED_MIB;

const plannedFor = (kind: ProcessKind): string => String(PLANNED_MIB[kind] * 2 ** 20);

/**
 * On the threads of the runtime, the embedded ClickHouse runs its statements. By default they are as many as cores: two long
 * statements would hold up all others.
 */
const THREADS = 12;

/**
 * The setting of a process that another one starts. It has the operator's value if there is one. The value that the process
 * with the embedded ClickHouse gives itself counts as none.
 */
export const memorySettings = (kind: ProcessKind, { BUN_JSC_forceRAMSize: given }: Environment = process.env) => ({
  BUN_JSC_forceRAMSize: given && given !== plannedFor('engine') ? given : plannedFor(kind),
});

/** The environment of a part of the service that is started as a separate process. */
export const partEnvironment = (kind: ProcessKind, environment: Environment = process.env): Environment => ({
  ...environment,
  ...memorySettings(kind, environment),
});

/** The environment in which this process would have all settings; undefined if it has each of them, whatever its value. */
export function environmentWithSettings(
  kind: ProcessKind,
  environment: Environment = process.env,
): Environment | undefined {
  const { BUN_JSC_forceRAMSize, UV_THREADPOOL_SIZE } = environment;
  if (BUN_JSC_forceRAMSize && UV_THREADPOOL_SIZE) return undefined;
  return {
    ...environment,
    BUN_JSC_forceRAMSize: BUN_JSC_forceRAMSize || plannedFor(kind),
    UV_THREADPOOL_SIZE: UV_THREADPOOL_SIZE || String(THREADS),
  };
}

/** Variables that a process needs to reach repository hosts. */
const WAYS_OUT = /^(?:PATH|TMPDIR|NODE_EXTRA_CA_CERTS|(?:HTTPS?|ALL|NO)_PROXY)$/i;

/** The environment of a process that imports: of that of the service, nothing that is secret. */
export const environmentOfImport = (environment: Environment = process.env): Environment => ({
  ...Object.fromEntries(Object.entries(environment).filter(([name]) => WAYS_OUT.test(name))),
  ...memorySettings('api', environment),
});
