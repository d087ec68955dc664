/** Reads a report from the disk, unless it is larger than the service takes. */
import { readdir, stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { FORMATS } from '../../formats/formats.ts';
import { readReport } from '../report-body.ts';

/** Larger reports are refused by every service. */
const REPORT_BYTES_MAX = 1024 * 1024 * 1024;

/** A folder is a report in a format whose reports are folders. Throws an Error that says what is wrong. */
export async function readBounded(path: string, formatName: string | undefined): Promise<Uint8Array> {
  const found = await stat(path).catch(() => undefined);
  if (!found) throw new Error('there is no such file');
  if (found.size > REPORT_BYTES_MAX) throw new Error(`it is larger than ${REPORT_BYTES_MAX} bytes`);
  const named = FORMATS.find(({ name }) => name === formatName);
  const format = named ?? (found.isDirectory() ? await formatOfFolder(path) : FORMATS[0]);
  if (!format || (found.isDirectory() && !format.folder)) throw new Error('it is a folder, and no report');
  return readReport(format, path);
}

async function formatOfFolder(path: string) {
  const names = await readdir(path);
  return FORMATS.find(({ folder }) => names.some((name) => folder?.isPart(basename(name))));
}
