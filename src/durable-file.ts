/** Writes small files so that a crash or a power loss leaves either the old content or the new, never a part of it. */
import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Only its owner can read the file. Returns when it is on disk. */
export function writeDurably(file: string, content: string): void {
  const temporary = `${file}.new`;
  rmSync(temporary, { force: true });
  const opened = openSync(temporary, 'wx', 0o600);
  try {
    writeFileSync(opened, content);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
  renameDurably(temporary, file);
}

/** Moves a file or a folder within its folder. Returns when the new name is on disk. */
export function renameDurably(from: string, to: string): void {
  renameSync(from, to);
  syncFolder(dirname(to));
}

/** Returns when the names in a folder are on disk. */
export function syncFolder(path: string): void {
  const folder = openSync(path, 'r');
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
