/** The files of an export: one file, those of a folder and its folders, or those of a zip. One at a time is in memory. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Entry, ZipFile } from 'yauzl';
import { UserError } from '../../../errors.ts';

/** The service takes no larger report, and a larger text of JSON is none that a tool exports in one piece. */
const FILE_BYTES_MAX = 256 * 1024 * 1024;
const FILES_MAX = 500_000;

export interface ExportFile {
  /** In the export, with `/` between folders. */
  path: string;
  /** Throws an Error that says what is wrong. */
  read(): Promise<Uint8Array>;
}

/** In the order of their paths. Throws a {@link UserError} if there is no such export. */
export async function filesOfExport(path: string): Promise<ExportFile[]> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new UserError(`There is no file or folder ${path}.`);
  if (!found.isDirectory()) return isZip(path) ? zippedFiles(path) : [fileAt(path, basename(path), found.size)];
  const files: ExportFile[] = [];
  for (const name of await readdir(path, { recursive: true })) {
    const full = join(path, name);
    const { size, isFile } = await kindOf(full);
    if (isFile) files.push(fileAt(full, name.replaceAll('\\', '/'), size));
  }
  return sorted(files, path);
}

function sorted(files: ExportFile[], path: string): ExportFile[] {
  if (files.length > FILES_MAX) throw new UserError(`${path} holds more than ${FILES_MAX} files: import it in parts.`);
  return files.sort((one, other) => (one.path < other.path ? -1 : 1));
}

/** A link that leads nowhere is no file. */
async function kindOf(path: string): Promise<{ isFile: boolean; size: number }> {
  const found = await stat(path).catch(() => undefined);
  return { isFile: found?.isFile() ?? false, size: found?.size ?? 0 };
}

const isZip = (path: string): boolean => path.toLowerCase().endsWith('.zip');

const fileAt = (full: string, path: string, size: number): ExportFile => ({
  path,
  async read() {
    requireSize(size);
    return readFile(full);
  },
});

/** The zip stays open while the command runs. */
async function zippedFiles(path: string): Promise<ExportFile[]> {
  const { openPromise } = await import('yauzl');
  const zip = await openPromise(path, { autoClose: false }).catch((cause: unknown) => {
    throw new UserError(`${path} is no zip, or damaged.`, { cause });
  });
  if (zip.entryCount > FILES_MAX)
    throw new UserError(`${path} holds more than ${FILES_MAX} files: import it in parts.`);
  const files: ExportFile[] = [];
  for await (const entry of zip.eachEntry())
    if (!entry.fileName.endsWith('/')) files.push({ path: entry.fileName, read: () => unzipped(zip, entry) });
  return sorted(files, path);
}

async function unzipped(zip: ZipFile, entry: Entry): Promise<Uint8Array> {
  requireSize(entry.uncompressedSize);
  const parts: Buffer[] = [];
  let size = 0;
  for await (const part of await zip.openReadStreamPromise(entry)) {
    size += part.length;
    // The zip may say less than there is.
    requireSize(size);
    parts.push(part);
  }
  return Buffer.concat(parts);
}

function requireSize(bytes: number): void {
  if (bytes > FILE_BYTES_MAX) throw new Error(`it is larger than ${FILE_BYTES_MAX} bytes`);
}

/** Without a byte order mark. Throws a SyntaxError for what is no JSON. */
export async function jsonIn(file: ExportFile): Promise<unknown> {
  return JSON.parse(new TextDecoder().decode(await file.read()));
}

/** The last part of its path. */
export const nameIn = ({ path }: ExportFile): string => path.slice(path.lastIndexOf('/') + 1);

/** `.` for a file at the top. */
export const folderOf = ({ path }: ExportFile): string => path.slice(0, Math.max(0, path.lastIndexOf('/'))) || '.';
