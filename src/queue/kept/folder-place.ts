/** Segments in a folder, which several processes and machines may share. Only their owner can read them. */
import { mkdirSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, readFile, rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncFolder, writeDurably } from '../../durable-file.ts';
import { UserError } from '../../errors.ts';
import type { KeptPlace } from './place.ts';

export class FolderPlace implements KeptPlace {
  /** Throws a {@link UserError} if the folder cannot be made. */
  constructor(readonly folder: string) {
    try {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
    } catch (cause) {
      throw new UserError(`The folder of kept uploads cannot be made at ${folder} (UPLOADS_KEPT_IN).`, { cause });
    }
  }

  #path(name: string): string {
    return join(this.folder, name);
  }

  /** A new segment. It is in its folder when this returns, also after a power loss. */
  async begin(name: string): Promise<FileHandle> {
    const path = this.#path(name);
    if (await mkdir(dirname(path), { recursive: true, mode: 0o700 })) syncFolder(this.folder);
    const file = await open(path, 'ax', 0o600);
    syncFolder(dirname(path));
    return file;
  }

  async list(): Promise<string[]> {
    const days = await readdir(this.folder);
    const names: string[] = [];
    for (const day of days)
      for (const name of await readdir(this.#path(day)).catch(nothing)) names.push(`${day}/${name}`);
    return names;
  }

  async read(name: string): Promise<string> {
    return (await readFile(this.#path(name), 'utf8').catch(nothing)).toString();
  }

  async replace(name: string, text: string): Promise<void> {
    writeDurably(this.#path(name), text);
  }

  async remove(name: string): Promise<void> {
    await rm(this.#path(name), { force: true });
    // The last one of a day takes the folder along.
    await rmdir(dirname(this.#path(name))).catch(() => {});
  }
}

/** Another process moves and removes segments, too. */
function nothing(error: unknown): [] {
  if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return [];
  throw error;
}
