/**
 * Folders for the data of tests, in memory where there is room. The stores flush every write to the disk, and waiting
 * for that is more than half the time of a test. Killing a process loses as little in memory as on a disk; what a power
 * cut leaves is tested on a separate disk (`power.ts`). `TMPDIR` chooses another place.
 */
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs';
import { freemem, tmpdir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from '../../src/processes.ts';

const MEMORY = '/dev/shm';
/** Several times what a run takes up. */
const ROOM_BYTES_MIN = 2 * 1024 ** 3;

let parent: string | undefined;

/** A new folder. The caller removes it. */
export function makeFolder(name: string): string {
  parent ??= process.env.TMPDIR || (hasRoom() ? emptied(MEMORY) : tmpdir());
  return mkdtempSync(join(parent, `ci-insights-${process.pid}-${name}-`));
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(MEMORY);
    return Math.min(bavail * bsize, freemem()) > ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}

/** Without the folders of runs that were killed: they would take up memory until the machine is restarted. */
function emptied(folder: string): string {
  for (const entry of readdirSync(folder)) {
    const pid = /^ci-insights-(\d+)-/.exec(entry)?.[1];
    if (pid && !isRunning(Number(pid))) rmSync(join(folder, entry), { recursive: true, force: true });
  }
  return folder;
}
