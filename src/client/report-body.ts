/** The body of a report: a file, or the files of a folder that are one report together. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReportFormat } from '../formats/format.ts';

export async function readReport({ folder }: ReportFormat, path: string): Promise<Uint8Array> {
  if (!folder || !(await stat(path)).isDirectory()) return readFile(path);
  const names = (await readdir(path)).filter((name) => folder.isPart(name));
  const files: { name: string; bytes: Uint8Array }[] = [];
  for (const name of names) files.push({ name, bytes: await readFile(join(path, name)) });
  return folder.packed(files);
}
