/**
 * A control group of the kernel that limits memory, as that of a container: without swap, and what takes more is killed.
 * Making one takes root, or `sudo` without a password.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = '/sys/fs/cgroup';

interface Kind {
  /** Where groups are made. */
  place: string;
  limits: readonly string[];
  peak: string;
  events: string;
}

const V1: Kind = {
  place: join(ROOT, 'memory'),
  // In this order: memory and swap together are never less than memory.
  limits: ['memory.limit_in_bytes', 'memory.memsw.limit_in_bytes'],
  peak: 'memory.max_usage_in_bytes',
  events: 'memory.oom_control',
};
const V2: Kind = { place: ROOT, limits: ['memory.max'], peak: 'memory.peak', events: 'memory.events' };

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};

const kindOfMachine = (): Kind | undefined => {
  if (textOf(join(V1.place, 'memory.limit_in_bytes')) !== '') return V1;
  return textOf(join(ROOT, 'cgroup.subtree_control')).includes('memory') ? V2 : undefined;
};

const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
const sh = (script: string): boolean =>
  Bun.spawnSync([...asRoot, 'sh', '-c', script], { stdout: 'ignore', stderr: 'ignore' }).exitCode === 0;

let made = 0;

export class MemoryGroup {
  readonly #kind: Kind;
  readonly #path: string;

  /** Throws where none can be made. */
  constructor(bytes: number) {
    const kind = kindOfMachine();
    if (!kind) throw new Error('no control groups of memory are mounted');
    this.#kind = kind;
    this.#path = join(kind.place, `ci-insights-${process.pid}-${made++}`);
    const limit = ([file, isNeeded]: [string, boolean]): string =>
      `(echo ${bytes} > ${join(this.#path, file)})${isNeeded ? '' : ' || true'}`;
    const [first = '', ...others] = kind.limits;
    const swap = kind === V2 ? [`(echo 0 > ${join(this.#path, 'memory.swap.max')} || true)`] : [];
    const steps = [`mkdir ${this.#path}`, limit([first, true]), ...others.map((file) => limit([file, false])), ...swap];
    if (!sh(steps.join(' && '))) throw new Error('no control group can be made');
  }

  /** A command that runs another in the group from its start on, as the same process. */
  command(...command: readonly string[]): string[] {
    const enter = `${asRoot.join(' ')} sh -c "echo $$ > ${join(this.#path, 'cgroup.procs')}"`;
    return ['sh', '-c', `${enter} && exec "$@"`, 'sh', ...command];
  }

  /** The most that was charged to it, with the pages of files, which the kernel takes back when it needs them. */
  get peakBytes(): number {
    return Number(textOf(join(this.#path, this.#kind.peak)));
  }

  /** Processes that were killed because the group had no memory left. */
  get kills(): number {
    return Number(/^oom_kill (\d+)$/m.exec(textOf(join(this.#path, this.#kind.events)))?.[1] ?? Number.NaN);
  }

  /** Its processes must have ended. */
  remove(): void {
    for (let tries = 0; tries < 50 && !sh(`rmdir ${this.#path}`); tries++) Bun.sleepSync(100);
  }
}

/** Why no group can be made here; undefined if one can. */
export function whyNoGroups(): string | undefined {
  try {
    new MemoryGroup(64 * 1024 ** 2).remove();
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
