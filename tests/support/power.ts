/**
 * A disk whose power can be cut: a separate ext4 file system on a loop device.
 *
 * The cut is ext4's own shutdown without a flush of its journal, as file systems are tested with: from that moment on nothing
 * reaches the disk, and what was in memory only is gone when the file system is mounted again.
 */
import { dlopen, FFIType, ptr } from 'bun:ffi';
import {
  closeSync,
  existsSync,
  fdatasyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { until } from './patience.ts';

const DISK_BYTES = 8 * 1024 ** 3;
/** `FS_IOC_SHUTDOWN`, and its flag that leaves the journal's memory behind. */
const SHUTDOWN = 0x8004587dn;
const WITHOUT_FLUSH = 2;

/** Whether this machine lets us mount: root, and a free loop device. */
export function canMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0 || !existsSync('/dev/loop-control')) return false;
  const disk = new Disk();
  try {
    disk.on();
    return true;
  } catch {
    return false;
  } finally {
    disk.remove();
  }
}

/** Where a service has its data. */
export interface Place {
  readonly path: string;
  /** Whether a cut ends every process, not only the one that is killed. */
  readonly takesAll: boolean;
  on(): void;
  cut(): void;
  off(): Promise<void>;
  remove(): void;
  writeBack(random: () => number): () => Promise<void>;
}

/** A folder of this machine, which loses nothing: for processes that are killed. */
export class Folder implements Place {
  readonly path = mkdtempSync(join(tmpdir(), 'ci-insights-killed-'));
  readonly takesAll = false;
  on(): void {}
  cut(): void {}
  async off(): Promise<void> {}
  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }
  writeBack(): () => Promise<void> {
    return async () => {};
  }
}

export class Disk implements Place {
  readonly takesAll = true;
  readonly #folder = mkdtempSync(join(tmpdir(), 'ci-insights-disk-'));
  readonly #image = join(this.#folder, 'image');
  /** Where the file system is while the power is on. */
  readonly path = join(this.#folder, 'disk');
  #isOn = false;

  constructor() {
    mkdirSync(this.path);
    closeSync(openSync(this.#image, 'w'));
    truncateSync(this.#image, DISK_BYTES);
    run('mkfs.ext4', '-q', '-F', '-E', 'lazy_itable_init=1,lazy_journal_init=1', this.#image);
  }

  on(): void {
    run('mount', '-o', 'loop', this.#image, this.path);
    this.#isOn = true;
  }

  /** Nothing that is written from now on reaches the disk. Processes with open files there must be ended next. */
  cut(): void {
    const folder = openSync(this.path, 'r');
    try {
      const libc = dlopen('libc.so.6', {
        ioctl: { args: [FFIType.i32, FFIType.u64, FFIType.ptr], returns: FFIType.i32 },
      });
      const failed = libc.symbols.ioctl(folder, SHUTDOWN, ptr(new Uint32Array([WITHOUT_FLUSH])));
      if (failed !== 0) throw new Error('the file system does not shut down');
    } finally {
      closeSync(folder);
    }
  }

  /** Unmounts the file system once no process has files open there. */
  async off(): Promise<void> {
    await until(
      () => {
        const { exitCode, stderr } = Bun.spawnSync(['umount', this.path]);
        return { exitCode, said: stderr.toString() };
      },
      ({ exitCode }) => exitCode === 0,
    );
    this.#isOn = false;
  }

  remove(): void {
    if (this.#isOn) Bun.spawnSync(['umount', '--lazy', this.path]);
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /**
   * Writes files back at random, as a kernel does at any time and in any order. Returns a function that ends it.
   *
   * @param random between 0 and 1
   */
  writeBack(random: () => number): () => Promise<void> {
    let isOver = false;
    const working = (async () => {
      while (!isOver) {
        const file = this.#anyFile(random);
        if (file !== undefined) flush(file);
        await Bun.sleep(40 * random());
      }
    })();
    return async () => {
      isOver = true;
      await working;
    };
  }

  #anyFile(random: () => number): string | undefined {
    for (let folder = this.path; ; ) {
      const entries = entriesOf(folder);
      const entry = entries[Math.floor(random() * entries.length)];
      if (!entry) return undefined;
      folder = join(folder, entry.name);
      if (!entry.isDirectory()) return folder;
    }
  }
}

/** Files come and go under a running service, and after a cut none can be read. */
function entriesOf(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function flush(file: string): void {
  try {
    const opened = openSync(file, 'r');
    try {
      fdatasyncSync(opened);
    } finally {
      closeSync(opened);
    }
  } catch {
    // Gone by now, or no file but a socket.
  }
}

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(' ')}: ${stderr.toString()}`);
}
